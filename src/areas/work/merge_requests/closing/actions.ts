/** Records which issues a merge request closes, so that both show it before the merge (docs/reference/merge_requests.md#closing-issues). */
import { sql } from 'kysely';
import { callerInJob } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { GitError } from '../../../../git/index.ts';
import type { Caller, Services } from '../../../../http/index.ts';
import { type MergeFacts, mergeFacts } from '../branch_queries.ts';
import { closesIssues, closingTexts, issuesClosedBy } from './git.ts';

/**
 * Adds the issues closed by a new description. Issues closed by commits are added by `refreshClosedIssues`.
 * @param tx the transaction of the change
 */
export async function addClosedIssues(tx: Database, caller: Caller, merge_request_id: number): Promise<void> {
  const [facts] = await mergeFacts(tx, [merge_request_id]);
  if (!facts?.description || !closesIssues(facts)) return;
  const issues = await issuesClosedBy(tx, caller, facts.target.full_path, [facts.description]);
  await remember(tx, facts, issues);
}

/** Recomputes which issues an open merge request closes; its author must be allowed to close them. */
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

/** Each needs a read by git. */
const maximumRead = 20;

/**
 * Records which issues imported open merge requests close. Their authors may have no account here, so the importer's rights count.
 * @param tx the transaction of this batch
 * @param after the number of the last merge request in the previous batch
 * @returns the number of the last one in this batch, undefined at the end
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

/** The texts that determine which issues merging closes. Commits that were not imported with the repository are skipped. */
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
