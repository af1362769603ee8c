/** Scheduling moves: one, and those of all containers on a storage (docs/reference/storage_moves.md#scheduling). */
import { type RawBuilder, type SqlBool, sql } from 'kysely';
import { type Database, isForeignKeyViolation, isUniqueViolation } from '../../../db/index.ts';
import { capitalized, found, invalid, notFound, type Services } from '../../../http/index.ts';
import { storageChooser } from '../../instance/application_settings/index.ts';
import type { Container } from './definition.ts';
import { beginScheduled } from './jobs.ts';
import type { Moved } from './queries.ts';

const notListed = 'is not included in the list';
export const busy = 'is read-only';

/** A predicate on rows of a container's table: another move of it has not ended, or it is still being filled. */
const isBusy = ({ name, table, column }: Container): RawBuilder<SqlBool> => sql`(
  exists (select from repository_storage_moves moves
           where moves.${sql.ref(column)} = ${sql.table(table)}.id and state in ('scheduled', 'started', 'replicated'))
  ${name === 'project' ? sql`or projects.import_status in ('scheduled', 'started')` : sql``})`;

/**
 * Schedules the move of one container.
 * @param wanted the name of the destination; by default one is chosen by weight
 * @returns the id of the move
 * @throws ApiError 400 with all reasons why it cannot be moved, 404 if it has just been deleted
 */
export async function scheduleMove(
  services: Services,
  { container, id }: Moved,
  wanted: string | undefined,
): Promise<number> {
  const { db, storages } = services;
  const { rows } = await sql<{ source: string; is_busy: boolean }>`
    select ${sql.ref(container.storage)} as source, ${isBusy(container)} as is_busy from ${sql.table(container.table)} where id = ${id}`.execute(
    db,
  );
  const noun = capitalized(container.name);
  const { source, is_busy } = found(noun, rows[0]);
  const reasons = {
    ...(wanted === undefined || Object.hasOwn(storages, wanted)
      ? {}
      : { destination_storage_name: [wanted === '' ? "can't be blank" : notListed] }),
    ...(Object.hasOwn(storages, source) ? {} : { source_storage_name: [notListed] }),
    ...(is_busy ? { [container.name]: [busy] } : {}),
  };
  if (Object.keys(reasons).length > 0) throw invalid(reasons);
  const destination_storage = wanted ?? (await storageChooser(services, source))();
  try {
    return await db.transaction().execute(async (tx) => {
      const move = await tx
        .insertInto('repository_storage_moves')
        .values({ [container.column]: id, source_storage: source, destination_storage })
        .returning('id')
        .executeTakeFirstOrThrow();
      await beginScheduled(tx);
      return move.id;
    });
  } catch (error) {
    if (isForeignKeyViolation(error)) throw notFound(noun);
    throw isUniqueViolation(error) ? invalid({ [container.name]: [busy] }) : error;
  }
}

export interface Bulk {
  container: Container;
  source: string;
  /** If omitted, each move gets one by weight. */
  destination: string | undefined;
}

/** The number of moves inserted together. */
const at_once = 100;

/**
 * Schedules the moves of all containers on a storage. Containers that cannot be moved now are skipped.
 * @returns the numbers of scheduled moves and of skipped containers
 */
export async function scheduleAll(
  services: Pick<Services, 'db' | 'storages'>,
  { container, source, destination }: Bulk,
  signal: AbortSignal,
): Promise<{ scheduled: number; skipped: number }> {
  const choose = await storageChooser(services, source);
  let [scheduled, skipped] = [0, 0];
  for (let after = 0; ; ) {
    signal.throwIfAborted();
    const batch = await containersOn(services.db, container, source, after);
    const free = batch.filter(({ is_busy }) => !is_busy).map(({ id }) => id);
    const destinations = free.map(() => destination ?? choose());
    const { numAffectedRows: added = 0n } = await sql`
      insert into repository_storage_moves (${sql.ref(container.column)}, source_storage, destination_storage)
      select id, ${source}, destination from unnest(${free}::bigint[], ${destinations}::text[]) moved(id, destination)
          on conflict do nothing`.execute(services.db);
    scheduled += Number(added);
    skipped += batch.length - Number(added);
    if (batch.length < at_once) return { scheduled, skipped };
    after = batch.at(-1)!.id;
  }
}

async function containersOn(db: Database, container: Container, source: string, after: number) {
  const isGroup = container.name === 'group' ? sql`and kind = 'group'` : sql``;
  const { rows } = await sql<{ id: number; is_busy: boolean }>`
    select id, ${isBusy(container)} as is_busy from ${sql.table(container.table)}
     where ${sql.ref(container.storage)} = ${source} and id > ${after} ${isGroup} order by id limit ${at_once}`.execute(
    db,
  );
  return rows;
}
