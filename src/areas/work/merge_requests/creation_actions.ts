/** Creating merge requests. */
import { sql } from 'kysely';
import { mergeRequestKind, type Project, theMergeRequest } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type ChangesOf, valuesOf } from '../../../fields/index.ts';
import type { Plan, Services } from '../../../http/index.ts';
import { type Acting, applyCommands, extractCommands } from '../../conversation/quick_actions/index.ts';
import { labelsFor, withoutRivals } from '../../planning/labels/index.ts';
import { recordEffects, taskColumns } from '../issuables/change_actions.ts';
import { insertIssuable } from '../issuables/creation_actions.ts';
import type { IssuableState } from '../issuables/definition.ts';
import { refuseSameBranch, refusingDuplicates } from './branch_pair_actions.ts';
import { addClosedIssues } from './closing/actions.ts';
import { mergeRequestFields } from './fields.ts';
import { mergeRequestNoun } from './noteable.ts';
import { withoutDraft } from './rules.ts';
import { addVersion, type Heads, headsOf } from './versions/actions.ts';
import { prepareMergeRequest } from './versions/jobs.ts';
import { enqueuePipeline } from './versions/pipeline_jobs.ts';

/** A new merge request. The caller may set all its members, and all are valid. */
export interface NewMergeRequest extends ChangesOf<typeof mergeRequestFields, 'merge_requests'> {
  title: string;
  assignee_ids: readonly number[];
  reviewer_ids: readonly number[];
  /** Titles of labels; missing ones are created if `creates_labels` is true, and ignored otherwise. */
  labels: readonly string[];
  creates_labels: boolean;
}

/** Its branches, with their projects. */
export interface Between {
  source: Project;
  source_branch: string;
  target: Project;
  target_branch: string;
}

const pairOf = ({ source, source_branch, target, target_branch }: Between) => ({
  source_branch,
  target_branch,
  source_project_id: source.id,
  project_id: target.id,
});

/** The ids of labels that it can have at the same time: one per scope, if the plan includes scoped labels. */
async function labelIds(
  tx: Database,
  plan: Plan,
  { target }: Between,
  { labels, creates_labels }: NewMergeRequest,
): Promise<number[]> {
  const found = [...(await labelsFor(tx, { project_id: target.id }, labels, { create: creates_labels })).values()];
  return (plan === 'free' ? found : withoutRivals(found)).map(({ id }) => id);
}

/** Whether the target project squashes merge requests by default. */
async function usuallySquashes(tx: Database, project_id: number): Promise<boolean> {
  const { squash_option } = await tx
    .selectFrom('projects')
    .select('squash_option')
    .where('id', '=', project_id)
    .executeTakeFirstOrThrow();
  return squash_option === 'always' || squash_option === 'default_on';
}

interface Added {
  id: number;
  iid: number;
}

async function insert(
  tx: Database,
  author_id: number,
  between: Between,
  wanted: NewMergeRequest,
  to: IssuableState,
  heads: Heads,
): Promise<Added> {
  const { project_id, ...branches } = pairOf(between);
  const squash = wanted.squash ?? (await usuallySquashes(tx, project_id));
  const { description } = to;
  const given = valuesOf(mergeRequestFields, { ...wanted, description, squash });
  const added = await insertIssuable(tx, mergeRequestKind, {
    place_id: project_id,
    columns: { ...given, ...branches, ...(await taskColumns({ description })) },
    author_id,
    label_ids: to.label_ids,
    assignee_ids: to.assignee_ids ?? [],
    is_news: true,
    also: sql`, reviewing as (
      insert into merge_request_reviewers (merge_request_id, user_id) select added.id, unnest(${wanted.reviewer_ids}::bigint[]) from added)`,
  });
  await addVersion(tx, added.id, heads);
  return added;
}

/** The merge request after its creation. */
const stateOf = (wanted: NewMergeRequest, description: string | null, label_ids: readonly number[]): IssuableState => ({
  title: withoutDraft(wanted.title),
  description,
  state: 'opened',
  label_ids,
  milestone_id: wanted.milestone_id ?? null,
  assignee_ids: wanted.assignee_ids,
  reviewer_ids: wanted.reviewer_ids,
});

/**
 * Creates a merge request, with all effects and its first version.
 * @throws ApiError 400 for missing branches, 409 if both branches are the same or have an open merge request
 */
export async function createMergeRequest(
  services: Pick<Services, 'db' | 'storages'>,
  acting: Acting,
  between: Between,
  wanted: NewMergeRequest,
): Promise<Added> {
  const pair = pairOf(between);
  refuseSameBranch(pair);
  const heads = await headsOf(services, between);
  const { text, commands } = await extractCommands(wanted.description ?? '', mergeRequestNoun.quickActions);
  const description = wanted.description ? text : (wanted.description ?? null);
  return refusingDuplicates(services.db, pair, async (tx) => {
    const to = stateOf(wanted, description, await labelIds(tx, acting.plan, between, wanted));
    const added = await insert(tx, acting.caller.id, between, wanted, to, heads);
    const from = { ...to, description: null, milestone_id: null, assignee_ids: [], reviewer_ids: [] };
    const change = {
      on: theMergeRequest(added.id),
      project_id: pair.project_id,
      from,
      to,
      is_new: true,
      at: undefined,
    };
    await recordEffects(tx, acting, change);
    const project = between.target;
    const on = { ...added, kind: mergeRequestKind, in: { project }, access_level: project.access_level };
    if (commands.length > 0)
      await applyCommands(tx, mergeRequestNoun.quickActions, { ...acting, on, is_new: true }, commands);
    if (description) await addClosedIssues(tx, acting.caller, added.id);
    await prepareMergeRequest.enqueue(tx, { merge_request_id: added.id });
    await enqueuePipeline(tx, { merge_request_id: added.id, user_id: acting.caller.id, sha: heads.head });
    return added;
  });
}
