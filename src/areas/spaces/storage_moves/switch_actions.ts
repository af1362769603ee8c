/**
 * Notifying the processes of a server of repositories that have switched to another storage, and recording which old
 * copies they still read.
 */
import { sql } from 'kysely';
import type { Logger } from 'pino';
import type { Database } from '../../../db/index.ts';
import { closeReaders, isInUse, learnMove, placeOf } from '../../../git/index.ts';
import type { RepositoryServices } from '../../../services/index.ts';
import { copiesOf, moves } from './queries.ts';

/** Far shorter than we keep a moved-away copy for readers that still hold its old path. */
const every_ms = 2_000;

/** How long processes that read a row before a switch are redirected to the new location. */
const sent_s = 30;

const recent = (db: Database) =>
  moves(db)
    .select(
      sql<number>`extract(epoch from replicated_at + make_interval(secs => ${sent_s}) - now()) * 1000`.as('left_ms'),
    )
    .where(sql<boolean>`(state = 'replicated' or replicated_at > now() - make_interval(secs => ${sent_s}))`)
    .orderBy('replicated_at')
    .execute();

/** Reads recent switches, and reports which old repositories this process is still reading. */
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
      // Readers waiting for their next request would keep it in use.
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
 * @returns a function that stops it
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
