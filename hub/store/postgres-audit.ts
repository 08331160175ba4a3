const REFUSE = `raise exception 'the audit is append-only';`

/** Returns statements that make a trigger with a function of its own. */
function trigger(name: string, when: string, body: string): string[] {
  return [
    `create function ${name}() returns trigger language plpgsql as $$ begin ${body} return null; end $$`,
    `create trigger ${name} ${when} execute function ${name}()`,
  ]
}

export const guardAudit: readonly string[] = [
  ...trigger(
    'audit_added',
    'after insert on audit for each row',
    'update audit_chain set last_hash = new.hash;',
  ),
  ...trigger('audit_unchanged', 'before update or truncate on audit for each statement', REFUSE),
  // Retention first moves the beginning of the chain.
  ...trigger(
    'audit_kept',
    'after delete on audit for each row',
    `if old.seq > (select removed_seq from audit_chain) then ${REFUSE} end if;`,
  ),
]

export const guardAuditEnd: readonly string[] = trigger(
  'audit_at_end',
  'after insert on audit for each row',
  `if new.seq <= (select removed_seq from audit_chain) or new.seq > (select last_seq from audit_chain)
    or exists (select 1 from audit where seq > new.seq) then ${REFUSE} end if;`,
)
