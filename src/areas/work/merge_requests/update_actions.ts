/** Updating merge requests: the requested changes, and the quick actions in a new description. */
import { mergeRequestKind, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Acting, changeWithCommands } from '../../conversation/quick_actions/index.ts';
import { changeMergeRequest, type MergeRequestChanges } from './change_actions.ts';
import { mergeRequestNoun } from './noteable.ts';

/**
 * Changes a merge request like `changeMergeRequest`, then applies the quick actions in its new description that the caller may use. They are removed from the text.
 * @param tx the transaction of the change
 * @throws ApiError as `changeMergeRequest`
 */
export function updateMergeRequest(
  tx: Database,
  acting: Acting,
  project: Project,
  { id, iid }: { id: number; iid: number },
  changes: MergeRequestChanges,
): Promise<void> {
  const on = { id, iid, kind: mergeRequestKind, in: { project }, access_level: project.access_level };
  return changeWithCommands(tx, mergeRequestNoun.quickActions, { ...acting, on }, changes, (given) =>
    changeMergeRequest(tx, acting, project, id, given),
  );
}
