/** Merging until the server is killed, and what must follow from each merge. */
import assert from 'node:assert/strict';
import { sql } from 'kysely';
import type { Database } from '../../src/db/index.ts';
import { allRefs, keepAroundRef, repositoryOf } from '../../src/git/index.ts';
import type { JobServices } from '../../src/services/index.ts';
import type { Client } from '../support/client.ts';
import { fileUrl } from '../support/repository.ts';
import { asked, type Memory, type Project, type Round } from './writers.ts';

/** Creates issues, branches and merge requests that close the issues, and merges these. Every second one asks to remove its branch. */
export async function mergeBranches(api: Client, project: Project, round: Round, { merges }: Memory): Promise<void> {
  const url = `/projects/${project.id}`;
  for (let count = 0; !round.isOver; count++) {
    const branch = `merged-${round.number}-${count}`;
    const issue = await asked(round, branch, api.post(`${url}/issues`, { title: branch }));
    const file = { branch, start_branch: 'main', commit_message: `Add ${branch}`, content: branch };
    const commit = await asked(round, branch, api.post(fileUrl(project, `${branch}.txt`), file));
    if (issue.iid === undefined || commit.fate !== 'done') continue;
    const remove_source_branch = count % 2 === 0;
    const wanted = { source_branch: branch, target_branch: 'main', title: branch, description: `Closes #${issue.iid}` };
    const proposed = await asked(round, branch, api.post(`${url}/merge_requests`, { ...wanted, remove_source_branch }));
    if (proposed.id === undefined) continue;
    const merge = {
      id: proposed.id,
      issue_id: issue.id!,
      branch,
      remove_source_branch,
      fate: 'unknown' as typeof issue.fate,
    };
    merges.push(merge);
    merge.fate = (await asked(round, branch, api.put(`${url}/merge_requests/${proposed.iid}/merge`))).fate;
  }
}

/** Each merge request is merged with everything that follows from it, or open with nothing of that. The jobs have ended. */
export async function inspectMerges(services: JobServices, project: Project, { merges }: Memory): Promise<void> {
  const refs = await allRefs(repositoryOf(services, { id: project.id, storage: 'default' }));
  for (const { id, issue_id, branch, remove_source_branch, fate } of merges) {
    const { state, head, merge_commit_sha, ...followed } = await recordOf(services.db, id, issue_id);
    if (fate === 'done') assert.equal(state, 'merged', branch);
    else assert.ok(['opened', 'merged'].includes(state), `${branch} is ${state}`);
    const isMerged = state === 'merged';
    const expected = {
      issue: isMerged ? 'closed' : 'opened',
      is_pending: false,
      events: isMerged ? 1 : 0,
      state_events: isMerged ? 1 : 0,
    };
    assert.deepEqual(followed, expected, branch);
    assert.equal(refs.has(`refs/heads/${branch}`), !(isMerged && remove_source_branch), branch);
    if (isMerged) for (const sha of [head, merge_commit_sha]) assert.equal(refs.get(keepAroundRef(sha)), sha, branch);
  }
}

interface Followed {
  state: string;
  head: string;
  merge_commit_sha: string;
  /** The state of the issue. */
  issue: string;
  is_pending: boolean;
  events: number;
  state_events: number;
}

async function recordOf(db: Database, id: number, issue_id: number): Promise<Followed> {
  const { rows } = await sql<Followed>`
    select state, head_commit_id as head, merge_commit_sha, merge_unconcluded as is_pending,
           (select state from issues where id = ${issue_id}) as issue,
           (select count(*)::integer from events where target_type = 'MergeRequest' and target_id = ${id} and action = 'merged') as events,
           (select count(*)::integer from resource_state_events where merge_request_id = ${id} and state = 'merged') as state_events
      from merge_requests where id = ${id}`.execute(db);
  return rows[0]!;
}
