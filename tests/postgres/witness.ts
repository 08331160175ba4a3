import type pg from 'pg'
import type { Work } from '../crash/provider.ts'

/** Setting of a connection by which the database knows the hub. */
const LIFE = 'superbloom.life'

/** Returns what the address of a database gets, so that the database knows which process it serves. */
export const asLife = (life: string) => `options=-c%20${LIFE}%3D${life}`

/** Tables whose rows belong to a cycle, and the trigger that notes each of their rows. */
const INSTALL = `
  create schema witness;
  create table witness.writes (
    n bigint generated always as identity primary key,
    life text not null, epoch integer not null, thread text not null, fence bigint not null
  );
  create table witness.leads (n bigint generated always as identity primary key, life text, epoch integer not null);
  create function witness.note_write() returns trigger language plpgsql as $$ begin
    insert into witness.writes (life, epoch, thread, fence)
    select coalesce(current_setting('${LIFE}', true), ''), epoch, id, fence
    from public.leader_fence, public.threads where id = new.thread_id;
    return null;
  end $$;
  create function witness.note_lead() returns trigger language plpgsql as $$ begin
    if new.epoch is distinct from old.epoch then
      insert into witness.leads (life, epoch) values (current_setting('${LIFE}', true), new.epoch);
    end if;
    return null;
  end $$;
  create trigger note after insert or update on history for each row execute function witness.note_write();
  create trigger note after insert on cycles for each row execute function witness.note_write();
  create trigger note after insert or update on tool_calls for each row execute function witness.note_write();
  create trigger note after update on leader for each row execute function witness.note_lead()`

/** Lets a database with the hub's schema note which process writes each row of a cycle, and which takes the lead. */
export async function installWitness(client: pg.Client | pg.Pool): Promise<void> {
  await client.query(INSTALL)
}

interface Write {
  life: string
  epoch: number
  thread: string
  fence: number
}

/** Notes that the database and the programs outside took of a trio of hubs. */
export interface Testimony {
  leads: { life: string; epoch: number }[]
  writes: Write[]
  /** Requests to the model's provider and calls of tools. */
  work: Work[]
}

/** Returns the signs of two hubs that worked at a time, in words. */
export function findOverlaps({ leads, writes, work }: Testimony): string[] {
  const epochs = new Map(leads.map(({ life, epoch }) => [life, epoch]))
  const byTime = work.toSorted((one, other) => one.at - other.at)
  const ranks = byTime.map(({ by }) => epochs.get(by) ?? -1)
  return [
    ...findFalls(
      'the number of the lead',
      leads.map(({ epoch }) => epoch),
      1,
    ),
    ...findFalls(
      'the lead under which rows were written',
      writes.map(({ epoch }) => epoch),
    ),
    ...findFalls('the lead under which work was given to programs outside', ranks),
    ...[...Map.groupBy(writes, ({ thread }) => thread)].flatMap(([thread, own]) => [
      ...findFalls(
        `the fence of ${thread}`,
        own.map(({ fence }) => fence),
      ),
      ...findShared(thread, own),
    ]),
    ...writes
      .filter(({ life, epoch }) => epochs.get(life) !== epoch)
      .map(({ life, epoch, thread }) => `${thread}: hub ${life} wrote under lead ${epoch}`),
  ]
}

/** Finds numbers that are not at least `step` above the one before. */
function findFalls(what: string, numbers: readonly number[], step = 0): string[] {
  return numbers.flatMap((number, index) => {
    const before = numbers[index - 1]
    return before === undefined || number >= before + step ? [] : [`${what} went from ${before} to ${number}`]
  })
}

/** Finds fences under which two hubs wrote. */
function findShared(thread: string, writes: readonly Write[]): string[] {
  return [...Map.groupBy(writes, ({ fence }) => fence)].flatMap(([fence, own]) => {
    const lives = new Set(own.map(({ life }) => life))
    return lives.size > 1 ? [`${thread}: the hubs ${[...lives]} wrote with the fence ${fence}`] : []
  })
}
