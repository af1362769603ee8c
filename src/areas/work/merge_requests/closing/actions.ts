/** Remembering which issues a merge request closes, so that both show it before it is merged (docs/reference/merge_requests.md#closing-issues). */
import { sql } from 'kysely';
import { callerInJob } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { GitError } from '../../../../git/index.ts';
import type { Caller, Services } from '../../../../http/index.ts';
import { type MergeFacts, mergeFacts } from '../branch_queries.ts';
import { closesIssues, closingTexts, issuesClosedBy } from './git.ts';

/**
 * Adds the issues that a new description closes. Those of commits follow with `refreshClosedIssues`.
 * @param tx the transaction of the change
 */
export async function addClosedIssues(tx: Database, caller: Caller, merge_request_id: number): Promise<void> {
  const [facts] = await mergeFacts(tx, [merge_request_id]);
  if (!facts?.description || !closesIssues(facts)) return;
  const issues = await issuesClosedBy(tx, caller, facts.target.full_path, [facts.description]);
  await remember(tx, facts, issues);
}

/** Reads anew which issues an open merge request closes, as far as its author may close them. */
export async function refreshClosedIssues(
  services: Pick<Services, 'db' | 'storages' | 'url'>,
  facts: MergeFacts,
): Promise<void> {
  if (facts.state !== 'opened') return;
  const author = facts.author_id === null ? undefined : await callerInJob(services, facts.author_id);
  const texts = author ? await closingTexts(services, facts) : [];
  await services.db.transaction().execute(async (tx) => {
    const issues = author ? await issuesClosedBy(tx, author, facts.target.full_path, texts) : [];
    await sql`
      delete from merge_request_closed_issues
       where merge_request_id = ${facts.id} and issue_id <> all(${issues.map(({ id }) => id)}::bigint[])`.execute(tx);
    await remember(tx, facts, issues);
  });
}

/** Each is read by git. */
const maximumRead = 20;

/**
 * Remembers which issues open merge requests close that have arrived. Their authors may have no account here: what counts is what the importer may close.
 * @param tx the transaction of this portion
 * @param after the number of the last one of the portion before
 * @returns that of the last one of this portion, undefined at the end
 */
export async function findClosedIssues(
  tx: Database,
  services: Pick<Services, 'storages' | 'url'>,
  { project_id, importer_id }: { project_id: number; importer_id: number },
  after: number,
): Promise<number | undefined> {
  const rows = await tx
    .selectFrom('merge_requests')
    .select(['id', 'iid'])
    .where('project_id', '=', project_id)
    .where('iid', '>', after)
    .where('state', '=', 'opened')
    .orderBy('iid')
    .limit(maximumRead)
    .execute();
  const importer = await callerInJob({ ...services, db: tx }, importer_id);
  const all = importer
    ? await mergeFacts(
        tx,
        rows.map(({ id }) => id),
      )
    : [];
  for (const facts of all) {
    const texts = await textsThatAreHere(services, facts);
    await remember(tx, facts, await issuesClosedBy(tx, importer!, facts.target.full_path, texts));
  }
  return rows.at(-1)?.iid;
}

/** What says which issues merging closes. Commits that did not arrive with the repository say nothing. */
async function textsThatAreHere(services: Pick<Services, 'storages'>, facts: MergeFacts): Promise<string[]> {
  try {
    return await closingTexts(services, facts);
  } catch (error) {
    if (error instanceof GitError) return [facts.description ?? ''];
    throw error;
  }
}

async function remember(tx: Database, { id }: { id: number }, issues: readonly { id: number }[]): Promise<void> {
  if (issues.length === 0) return;
  await tx
    .insertInto('merge_request_closed_issues')
    .values(issues.map((issue) => ({ merge_request_id: id, issue_id: issue.id })))
    .onConflict((conflict) => conflict.doNothing())
    .execute();
}
