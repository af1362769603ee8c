/** Telling the processes of a server which repositories have switched to another storage, and telling the database which old ones they still read. */
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../../db/index.ts';
import { closeReaders, isInUse, learnMove, placeOf } from '../../../git/index.ts';
import type { RepositoryServices } from '../../../services/index.ts';
import { copiesOf, moves } from './queries.ts';

/** Much less than sources stay for those who have read their place before. */
const every_ms = 2_000;

/** How long those who have read a row before a switch are sent to the new place. */
const sent_s = 30;

const recent = (db: Database) =>
  moves(db)
    .select(
      sql<number>`extract(epoch from replicated_at + make_interval(secs => ${sent_s}) - now()) * 1000`.as('left_ms'),
    )
    .where(sql<boolean>`(state = 'replicated' or replicated_at > now() - make_interval(secs => ${sent_s}))`)
    .orderBy('replicated_at')
    .execute();

/** Learns of recent switches, and says which old repositories this process reads. */
export async function followSwitches(services: RepositoryServices): Promise<void> {
  const used: number[] = [];
  const { storages } = services;
  for (const move of await recent(services.db)) {
    if (!Object.hasOwn(storages, move.source_storage) || !Object.hasOwn(storages, move.destination_storage)) continue;
    for (const { kind, owner } of copiesOf(services, move)) {
      const place = { ...owner, folder: kind.folder };
      if (move.left_ms > 0) learnMove(services, place, move.destination_storage, Math.ceil(move.left_ms));
      if (move.state !== 'replicated') continue;
      const path = placeOf(services, place);
      // Readers that wait for their next question would keep it in use.
      void closeReaders({ path });
      if (isInUse(path)) used.push(move.id);
    }
  }
  if (used.length === 0) return;
  await sql`
    update repository_storage_moves set used_until = now() + interval '10 seconds'
     where id = any(${used}::bigint[]) and state = 'replicated'`.execute(services.db);
}

/**
 * Follows switches while the process runs.
 * @returns stops it
 */
export function watchSwitches(services: RepositoryServices, log: Logger): () => void {
  let isAsking = false;
  const timer = setInterval(() => {
    if (isAsking) return;
    isAsking = true;
    followSwitches(services)
      .catch((err) => log.debug({ err }, 'cannot look for storage moves'))
      .finally(() => {
        isAsking = false;
      });
  }, every_ms).unref();
  return () => clearInterval(timer);
}
