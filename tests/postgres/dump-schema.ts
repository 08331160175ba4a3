import { type Kysely, sql } from 'kysely'
import type { Tables } from '../../hub/store/tables.ts'

const OURS = sql`relnamespace = current_schema()::regnamespace and relname not like 'kysely%'`

/** Returns what the migrations made, as statements, in an order that does not depend on theirs. */
export async function dumpSchema(db: Kysely<Tables>): Promise<string> {
  const { rows } = await sql<{ line: string }>`
    select line from (
      select 1 as kind, relname as name, format(E'create table %I (\n  %s\n);', relname, (
        select string_agg(part, E',\n  ' order by nr) from (
          select attnum as nr, format('%I %s%s%s%s', attname, format_type(atttypid, atttypmod),
            case when attcollation = 'pg_catalog."C"'::regcollation then ' collate "C"' else '' end,
            case when attnotnull then ' not null' else '' end,
            case when attidentity <> '' then ' generated as identity' when adbin is not null
              then ' default ' || pg_get_expr(adbin, adrelid) else '' end) as part
          from pg_attribute left join pg_attrdef on adrelid = attrelid and adnum = attnum
          where attrelid = pg_class.oid and attnum > 0 and not attisdropped
          union all
          select 1000 + row_number() over (order by conname), format('constraint %I %s', conname,
            pg_get_constraintdef(oid)) from pg_constraint where conrelid = pg_class.oid) as parts)) as line
      from pg_class where relkind = 'r' and ${OURS}
      union all
      select 2, relname, pg_get_indexdef(oid) || ';' from pg_class where relkind = 'i' and ${OURS}
        and not exists (select 1 from pg_constraint where conindid = pg_class.oid)
      union all
      select 3, proname, pg_get_functiondef(oid) || ';' from pg_proc
        where pronamespace = current_schema()::regnamespace
      union all
      select 4, tgname, pg_get_triggerdef(pg_trigger.oid) || ';' from pg_trigger
        join pg_class on pg_class.oid = tgrelid where not tgisinternal and ${OURS}) as lines
    order by kind, name collate "C"`.execute(db)
  const head =
    '-- What the migrations make on PostgreSQL. A test compares it; write it anew with: npm run test:postgres -- tests/postgres/store.test.ts -u'
  return `${[head, ...rows.map(({ line }) => line)].join('\n')}\n`
}
