/** Complete changes of feature flags and user lists. The changes of a project are serialised, so that limits hold and no list is deleted while a strategy starts to use it. */
import { isDeepStrictEqual } from 'node:util';
import { type RawBuilder, sql } from 'kysely';
import type { Project } from '../../../access/index.ts';
import { type Database, isAmong, isUniqueViolation, nextIid, stamped } from '../../../db/index.ts';
import { ApiError, notFound, withReasons } from '../../../http/index.ts';
import { settingsOf } from '../../instance/application_settings/index.ts';
import { tellOfFlag } from './hook_actions.ts';
import { contentSize, type FlagRow, flagNamed, flagsOf, type ListRow, listNumbered, listsOf } from './queries.ts';
import {
  type Flag,
  type GivenStrategy,
  Missing,
  maximums,
  reasonsByField,
  reasonsOf,
  reasonsOfList,
  type Strategy,
  strategiesAfter,
} from './rules.ts';
import { raiseVersion } from './version_actions.ts';

export const refusedTexts = {
  taken: 'Name has already been taken',
  tooManyFlags: (most: number | string) => `Maximum number of project feature flags (${most}) exceeded`,
  tooManyLists: `Maximum number of user lists (${maximums.user_lists}) exceeded`,
  tooLarge: `Strategies are too large together (maximum is ${maximums.content_bytes / 2 ** 20} MiB for a project)`,
  inUse: 'User list is associated with a strategy',
};

/** The error for a flag or a list, with a list of sentences. */
const refused = (...sentences: string[]) =>
  withReasons(new ApiError(400, { message: sentences }), reasonsByField(sentences));

/** The fields of a flag in a request. */
export interface GivenFlag {
  name?: string;
  description?: string | null;
  active?: boolean;
  strategies?: readonly GivenStrategy[];
}

/** Runs a change of a project's flags or lists exclusively, and increments the version of the data that its applications get. */
const changing = <T>(db: Database, project: Project, constraint: string, change: (tx: Database) => Promise<T>) =>
  db.transaction().execute(async (tx) => {
    await tx.selectFrom('projects').select('id').where('id', '=', project.id).forNoKeyUpdate().executeTakeFirst();
    try {
      const result = await change(tx);
      await raiseVersion(tx, project.id);
      return result;
    } catch (error) {
      if (isUniqueViolation(error, constraint)) throw refused(refusedTexts.taken);
      throw error;
    }
  });

/** @throws ApiError 400 if the flags would be too large to send to applications at once */
async function checkSize(tx: Database, project: Project): Promise<void> {
  const { rows } = await sql<{ size: number }>`select ${contentSize(project.id)} as size`.execute(tx);
  if (rows[0]!.size > maximums.content_bytes) throw refused(refusedTexts.tooLarge);
}

/** @throws ApiError 400 with a sentence for each reason */
async function checkFlag(tx: Database, project: Project, flag: Flag): Promise<void> {
  const named = flag.strategies.flatMap(({ user_list_id }) => user_list_id ?? []);
  const lists = listsOf(tx, project.id).clearSelect().select('id');
  const known = named.length === 0 ? [] : await lists.where(isAmong('id', named, 'bigint[]')).execute();
  const reasons = reasonsOf(flag, new Set(known.map(({ id }) => id)));
  if (reasons.length > 0) throw refused(...reasons);
}

/** The current state of a flag, in the form for changes. */
const stateOf = ({ name, description, active, strategies }: FlagRow): Flag => ({
  name,
  description,
  active,
  strategies: strategies.map(({ user_list, ...strategy }) => ({ ...strategy, user_list_id: user_list?.id ?? null })),
});

/** @throws ApiError 404 for an unknown strategy or scope */
function strategiesFor(before: readonly Strategy[], given: readonly GivenStrategy[]): Strategy[] {
  try {
    return strategiesAfter(before, given);
  } catch (error) {
    throw error instanceof Missing ? notFound() : error;
  }
}

const recordset = (rows: readonly object[], columns: string): RawBuilder<unknown> =>
  sql`jsonb_to_recordset(${JSON.stringify(rows)}::jsonb) as given(${sql.raw(columns)})`;

/** Writes the strategies of a flag: one statement per kind of change, whatever their number. */
async function writeStrategies(tx: Database, flag_id: number, strategies: readonly Strategy[]): Promise<void> {
  const columnsOf = ({ scopes: _, ...columns }: Strategy) => columns;
  const kept = strategies.filter(({ id }) => id !== undefined);
  const added = strategies.filter(({ id }) => id === undefined);
  await sql`
    delete from feature_flag_strategies
     where feature_flag_id = ${flag_id} and id <> all(${kept.map(({ id }) => id)}::bigint[])`.execute(tx);
  await sql`
    update feature_flag_strategies set name = given.name, parameters = given.parameters, user_list_id = given.user_list_id
      from ${recordset(kept.map(columnsOf), 'id bigint, name text, parameters jsonb, user_list_id bigint')}
     where feature_flag_strategies.id = given.id`.execute(tx);
  const { rows } = await sql<{ id: number }>`
    insert into feature_flag_strategies (feature_flag_id, name, parameters, user_list_id)
    select ${flag_id}, name, parameters, user_list_id
      from rows from (jsonb_to_recordset(${JSON.stringify(added.map(columnsOf))}::jsonb) as (name text, parameters jsonb, user_list_id bigint))
           with ordinality given(name, parameters, user_list_id, place) order by place
    returning id`.execute(tx);
  const withIds = [...kept, ...added.map((strategy, index) => ({ ...strategy, id: rows[index]!.id }))];
  await writeScopes(tx, withIds as (Strategy & { id: number })[]);
}

async function writeScopes(tx: Database, strategies: readonly (Strategy & { id: number })[]): Promise<void> {
  const scopes = strategies.flatMap(({ id: strategy_id, scopes }) =>
    scopes.map((scope) => ({ ...scope, strategy_id })),
  );
  const kept = scopes.filter(({ id }) => id !== undefined);
  await sql`
    delete from feature_flag_scopes
     where strategy_id = any(${strategies.map(({ id }) => id)}::bigint[]) and id <> all(${kept.map(({ id }) => id)}::bigint[])`.execute(
    tx,
  );
  const changes = recordset(kept, 'id bigint, environment_scope text');
  // Two scopes can be swapped: changed ones first get a temporary name that no scope can have.
  await sql`
    update feature_flag_scopes set environment_scope = concat('#', feature_flag_scopes.id)
      from ${changes} where feature_flag_scopes.id = given.id and feature_flag_scopes.environment_scope <> given.environment_scope`.execute(
    tx,
  );
  await sql`
    update feature_flag_scopes set environment_scope = given.environment_scope
      from ${changes} where feature_flag_scopes.id = given.id and feature_flag_scopes.environment_scope <> given.environment_scope`.execute(
    tx,
  );
  await sql`
    insert into feature_flag_scopes (strategy_id, environment_scope)
    select strategy_id, environment_scope
      from rows from (jsonb_to_recordset(${JSON.stringify(scopes.filter(({ id }) => id === undefined))}::jsonb) as (strategy_id bigint, environment_scope text))
           with ordinality given(strategy_id, environment_scope, place) order by place`.execute(tx);
}

/** The project and the caller of a change. */
interface Change {
  project: Project;
  caller: { id: number };
}

const flagName = 'feature_flags_name';

/**
 * Adds a flag.
 * @throws ApiError 400 with sentences
 */
export const addFlag = (db: Database, { project, caller }: Change, given: GivenFlag & { name: string }) =>
  changing(db, project, flagName, async (tx): Promise<FlagRow> => {
    const { project_feature_flags_limit: most } = await settingsOf(tx);
    const flags = tx.selectFrom('feature_flags').select(({ fn }) => fn.countAll<number>().as('count'));
    const { count } = await flags.where('project_id', '=', project.id).executeTakeFirstOrThrow();
    if (count >= most) throw refused(refusedTexts.tooManyFlags(most));
    const { name, description = null, active = true } = given;
    const flag = { name, description, active, strategies: strategiesFor([], given.strategies ?? []) };
    await checkFlag(tx, project, flag);
    const iid = await nextIid(tx, { project_id: project.id }, 'feature_flags');
    const row = { project_id: project.id, iid, name, description, active };
    const { id } = await tx.insertInto('feature_flags').values(row).returning('id').executeTakeFirstOrThrow();
    await writeStrategies(tx, id, flag.strategies);
    await checkSize(tx, project);
    await tellOfFlag(tx, id, caller.id);
    return flagsOf(tx, project.id).where('id', '=', id).executeTakeFirstOrThrow();
  });

/**
 * Changes the given fields of a flag.
 * @throws ApiError 400 with sentences, 404
 */
export const changeFlag = (db: Database, { project, caller }: Change, name: string, given: GivenFlag) =>
  changing(db, project, flagName, async (tx): Promise<FlagRow> => {
    const row = await flagNamed(tx, project.id, name);
    const before = stateOf(row);
    const { strategies, ...columns } = given;
    const after: Flag = { ...before, ...columns, strategies: strategiesFor(before.strategies, strategies ?? []) };
    if (isDeepStrictEqual(after, before)) return row;
    await checkFlag(tx, project, after);
    const { strategies: written, ...values } = after;
    await tx.updateTable('feature_flags').set(stamped(values, true)).where('id', '=', row.id).execute();
    await writeStrategies(tx, row.id, written);
    await checkSize(tx, project);
    await tellOfFlag(tx, row.id, caller.id);
    return flagsOf(tx, project.id).where('id', '=', row.id).executeTakeFirstOrThrow();
  });

/**
 * Deletes a flag.
 * @returns its state before
 * @throws ApiError 404
 */
export const deleteFlag = (db: Database, { project, caller }: Change, name: string) =>
  changing(db, project, flagName, async (tx): Promise<FlagRow> => {
    const row = await flagNamed(tx, project.id, name);
    await tellOfFlag(tx, row.id, caller.id);
    await tx.deleteFrom('feature_flags').where('id', '=', row.id).execute();
    return row;
  });

const listName = 'feature_flag_user_lists_name';

function checkList(list: { name?: string; user_xids?: string }): void {
  const reasons = reasonsOfList(list);
  if (reasons.length > 0) throw refused(...reasons);
}

/**
 * Adds a user list.
 * @throws ApiError 400 with sentences
 */
export const addList = (db: Database, project: Project, given: { name: string; user_xids: string }) =>
  changing(db, project, listName, async (tx): Promise<ListRow> => {
    checkList(given);
    const lists = tx.selectFrom('feature_flag_user_lists').select(({ fn }) => fn.countAll<number>().as('count'));
    const { count } = await lists.where('project_id', '=', project.id).executeTakeFirstOrThrow();
    if (count >= maximums.user_lists) throw refused(refusedTexts.tooManyLists);
    const iid = await nextIid(tx, { project_id: project.id }, 'feature_flag_user_lists');
    await tx
      .insertInto('feature_flag_user_lists')
      .values({ project_id: project.id, iid, ...given })
      .execute();
    return listNumbered(tx, project.id, iid);
  });

/**
 * Changes the given fields of a user list.
 * @throws ApiError 400 with sentences, 404
 */
export const changeList = (db: Database, project: Project, iid: number, given: { name?: string; user_xids?: string }) =>
  changing(db, project, listName, async (tx): Promise<ListRow> => {
    const { id } = await listNumbered(tx, project.id, iid);
    checkList(given);
    await tx.updateTable('feature_flag_user_lists').set(stamped(given)).where('id', '=', id).execute();
    await checkSize(tx, project);
    return listNumbered(tx, project.id, iid);
  });

/**
 * Deletes a user list that no strategy uses.
 * @param check throws to refuse the deletion
 * @throws ApiError 404, 409
 */
export const deleteList = (db: Database, project: Project, iid: number, check: (list: ListRow) => void) =>
  changing(db, project, listName, async (tx): Promise<void> => {
    const list = await listNumbered(tx, project.id, iid);
    check(list);
    const used = tx.selectFrom('feature_flag_strategies').select('id').where('user_list_id', '=', list.id).limit(1);
    if (await used.executeTakeFirst()) throw new ApiError(409, { message: [refusedTexts.inUse] });
    await tx.deleteFrom('feature_flag_user_lists').where('id', '=', list.id).execute();
  });
