/** Editing merge requests: the requested changes, and the quick actions in a new description. */
import { mergeRequestKind, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Acting, applyCommands, extractCommands } from '../../conversation/quick_actions/index.ts';
import { type MergeRequestChanges, updateMergeRequest } from './change_actions.ts';
import { mergeRequestNoun } from './noteable.ts';

/**
 * Changes a merge request as `updateMergeRequest` does, and then applies the quick actions in its new description, as far as the caller may. They are removed
 * from the text.
 * @param tx the transaction of the change
 * @throws ApiError as `updateMergeRequest`
 */
export async function editMergeRequest(
  tx: Database,
  acting: Acting,
  project: Project,
  { id, iid }: { id: number; iid: number },
  changes: MergeRequestChanges,
): Promise<void> {
  if (!changes.description) return updateMergeRequest(tx, acting, project, id, changes);
  const { text: description, commands } = await extractCommands(changes.description, mergeRequestNoun);
  await updateMergeRequest(tx, acting, project, id, { ...changes, description });
  const on = { id, iid, kind: mergeRequestKind, in: { project }, access_level: project.access_level };
  if (commands.length > 0) await applyCommands(tx, mergeRequestNoun, { ...acting, on, is_new: false }, commands);
}
