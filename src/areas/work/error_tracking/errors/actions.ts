/** Changes to errors: their status and assignee, issues created from them, and their deletion. */
import { sql } from 'kysely';
import { countsToday, levels, type Project } from '../../../../access/index.ts';
import { type Database, isAmong, stamped } from '../../../../db/index.ts';
import { type Caller, conflict, found, invalid } from '../../../../http/index.ts';
import { recordEvents } from '../../../activity/events/index.ts';
import type { Acting } from '../../../conversation/quick_actions/index.ts';
import { createIssue } from '../../issues/creation_actions.ts';
import { newIssueFrom } from '../../issues/parameters.ts';
import { tellOfStatuses } from './news_actions.ts';
import { errorPage, titleOf } from './present.ts';
import { errorText, type Status } from './queries.ts';
import { removeError } from './removal_jobs.ts';

export const notAMember = 'is not a member who can read errors';
export const alreadyLinked = '409 Conflict - issue already linked';
const maximumTitle = 255;

/** @throws ApiError 400 unless the user is an active member of the project with at least the Reporter role */
async function checkAssignee(tx: Database, project: Project, id: number): Promise<void> {
  const { rows } = await sql`
    select from users where id = ${id} and state = 'active' and exists (
      select from project_authorizations
       where user_id = users.id and project_id = ${project.id} and access_level >= ${levels.reporter} and ${countsToday()})`.execute(
    tx,
  );
  if (rows.length === 0) throw invalid({ assignee_id: [notAMember] });
}

/** Locks errors of a project in the order in which events are grouped. @returns the existing ones */
const lockErrors = (tx: Database, project: Project, ids: readonly number[]) =>
  tx
    .selectFrom('error_tracking_errors')
    .select(['id', 'status', 'assignee_id', 'issue_id', 'first_seen_at', 'events_count'])
    .select([errorText('name'), errorText('description')])
    .where('project_id', '=', project.id)
    .where(isAmong('id', ids, 'bigint[]'))
    .orderBy('id')
    .forNoKeyUpdate()
    .execute();

/** The user who resolved an error is recorded as long as it is resolved. */
const resolution = (caller: Caller, status: Status) =>
  status === 'resolved'
    ? { resolved_at: sql<string>`now()`, resolved_by_id: caller.id }
    : { resolved_at: null, resolved_by_id: null };

/** The activity recorded for a status change; ignoring records none. */
const activities = { resolved: 'closed', unresolved: 'reopened' } as const;

/** Records in the project's activity, and notifies webhooks, that a user changed the status of errors. */
async function recordStatuses(
  tx: Database,
  { caller, project }: { caller: Caller; project: Project },
  ids: readonly number[],
  status: Status,
): Promise<void> {
  const { id: project_id } = project;
  if (status !== 'ignored') {
    const event = {
      project_id,
      author_id: caller.id,
      action: activities[status],
      target_type: 'TrackedError' as const,
    };
    await recordEvents(
      tx,
      ids.map((target_id) => ({ ...event, target_id })),
    );
  }
  await tellOfStatuses(
    tx,
    caller.id,
    ids.map((id) => ({ id, project_id, kind: status })),
  );
}

/**
 * Changes the status of errors. Errors that have the status already keep the user and time of their resolution.
 * @param ids ids of errors of the project
 * @throws ApiError 404 if one does not exist; then none is changed
 */
export const changeStatuses = (
  db: Database,
  { caller, project }: { caller: Caller; project: Project },
  ids: readonly number[],
  status: Status,
): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const errors = await lockErrors(tx, project, ids);
    found(undefined, errors.length === new Set(ids).size ? errors : undefined);
    const changed = errors.filter((error) => error.status !== status).map(({ id }) => id);
    if (changed.length === 0) return;
    await tx
      .updateTable('error_tracking_errors')
      .set(stamped({ status, ...resolution(caller, status) }))
      .where(isAmong('id', changed, 'bigint[]'))
      .execute();
    await recordStatuses(tx, { caller, project }, changed, status);
  });

/**
 * Changes an error; omitted fields keep their values.
 * @throws ApiError 404 if it does not exist, 400 for an assignee who may not read errors
 */
export const changeError = (
  db: Database,
  { caller, project }: { caller: Caller; project: Project },
  id: number,
  { status, assignee_id }: { status?: Status | undefined; assignee_id?: number | null | undefined },
): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const error = found(undefined, (await lockErrors(tx, project, [id])).at(0));
    const assigns = assignee_id !== undefined && assignee_id !== error.assignee_id;
    if (assigns && assignee_id !== null) await checkAssignee(tx, project, assignee_id);
    const turns = status !== undefined && status !== error.status;
    if (!assigns && !turns) return;
    const changes = {
      ...(assigns ? { assignee_id } : {}),
      ...(turns ? { status, ...resolution(caller, status) } : {}),
    };
    await tx.updateTable('error_tracking_errors').set(stamped(changes)).where('id', '=', id).execute();
    if (turns) await recordStatuses(tx, { caller, project }, [id], status);
  });

/** The description of an issue about an error. It contains nothing sent by applications, because that could mention people and contain quick actions. */
const descriptionOf = (web_url: string, error: { first_seen_at: string; events_count: number }): string =>
  [`Error: ${web_url}`, `First seen: ${error.first_seen_at}`, `Events: ${error.events_count}`].join('\n\n');

/** A text reduced to one line. */
const lineOf = (text: string): string =>
  [...text.replaceAll(/\s+/g, ' ').trim()].slice(0, maximumTitle).join('').trim();

/**
 * Creates an issue about an error and links them.
 * @param given the title, which defaults to that of the error, and the titles of labels
 * @throws ApiError 404 if the error does not exist, 409 if it has an issue already
 */
export async function createIssueOfError(
  db: Database,
  acting: Acting,
  project: Project,
  id: number,
  { title, labels = [] }: { title?: string | undefined; labels?: string[] | undefined },
) {
  return db.transaction().execute(async (tx) => {
    const error = found(undefined, (await lockErrors(tx, project, [id])).at(0));
    if (error.issue_id !== null) throw conflict(alreadyLinked);
    const description = descriptionOf(acting.url + errorPage(project.full_path, error.id), error);
    const parent = { db: tx, caller: acting.caller, plan: acting.plan, project };
    const issue = await newIssueFrom(parent, { title: title ?? lineOf(titleOf(error)), description, labels });
    const added = await createIssue(tx, acting, project, issue);
    await tx
      .updateTable('error_tracking_errors')
      .set(stamped({ issue_id: added.id }))
      .where('id', '=', id)
      .execute();
    return added;
  });
}

/**
 * Deletes an error: it disappears at once, and a job deletes its events. If it occurs again, it is a new error.
 * @throws ApiError 404 if it does not exist
 */
export const deleteError = (db: Database, project: Project, id: number): Promise<void> =>
  db.transaction().execute(async (tx) => {
    const { numUpdatedRows } = await tx
      .updateTable('error_tracking_errors')
      .set({ project_id: null, issue_id: null })
      .where('project_id', '=', project.id)
      .where('id', '=', id)
      .executeTakeFirst();
    found(undefined, numUpdatedRows === 0n ? undefined : id);
    await removeError.enqueue(tx, { error_id: id });
  });
