/** Queries for hooks and their secrets. */
import type { Selectable } from 'kysely';
import type { Owner } from '../../../access/index.ts';
import { type Database, type DB, eachRow } from '../../../db/index.ts';
import { found } from '../../../http/index.ts';
import type { Secrets } from '../../../secrets/index.ts';
import type { HookSecrets } from './rules.ts';

/** The purpose for which the secrets of hooks are sealed. */
const purpose = 'hook secrets';

/** @param before what is stored of a hook that changes */
export const sealed = (secrets: Secrets, values: HookSecrets, before: Buffer | null = null): Buffer =>
  secrets.resealed(purpose, before, JSON.stringify(values));

export const noSecrets: HookSecrets = { url_variables: {}, custom_headers: {} };

/**
 * @returns undefined if they were sealed with another secret key, or are damaged: such a hook is shown and changed as
 * one without secrets, and never used for sending
 */
export function unsealed(secrets: Secrets, { secrets: bytes }: Pick<HookRow, 'secrets'>): HookSecrets | undefined {
  const text = secrets.unseal(purpose, bytes);
  return text === undefined ? undefined : (JSON.parse(text) as HookSecrets);
}

export type HookRow = Selectable<DB['hooks']>;

/** The hooks of a project, a group or the server with its streaming destinations of audit events, oldest first. */
const rowsOf = (db: Database, { project_id, group_id }: Owner) =>
  db
    .selectFrom('hooks')
    .selectAll()
    .where('project_id', project_id === null ? 'is' : '=', project_id)
    .where('group_id', group_id === null ? 'is' : '=', group_id)
    .orderBy('id');

/** The hooks of a project, a group or the server, oldest first. */
export const hooksOf = (db: Database, owner: Owner) => rowsOf(db, owner).where('event_type_filters', 'is', null);

/** The streaming destinations of audit events of a group or the server, oldest first. */
export const destinationsOf = (db: Database, owner: Owner) =>
  rowsOf(db, owner).where('event_type_filters', 'is not', null);

/** Whether a row is a streaming destination of audit events. */
export const isDestination = ({ event_type_filters }: Pick<HookRow, 'event_type_filters'>): boolean =>
  event_type_filters !== null;

/** @throws ApiError 404 */
export const hookOf = async (db: Database, owner: Owner, id: number): Promise<HookRow> =>
  found(undefined, await hooksOf(db, owner).where('id', '=', id).executeTakeFirst());

/** The hooks whose secrets cannot be read: they were sealed with another secret key, or are damaged. */
export async function* brokenHooks(db: Database, secrets: Secrets): AsyncGenerator<number> {
  const rows = eachRow((last) => db.selectFrom('hooks').select(['id', 'secrets']).where('id', '>', last).orderBy('id'));
  for await (const row of rows) if (secrets.unseal(purpose, row.secrets) === undefined) yield row.id;
}
