/** Editing issues: the requested changes, and the quick actions in a new description. */
import { issueKind, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import type { Acting } from '../../conversation/quick_actions/index.ts';
import { applyCommands, extractCommands } from '../../conversation/quick_actions/index.ts';
import { type IssueChanges, updateIssue } from './change_actions.ts';
import { issueNoun } from './noteable.ts';

/**
 * Changes an issue as `updateIssue` does, and then applies the quick actions in its new description, as far as the caller may. They are removed from the text.
 * @param tx the transaction of the change
 * @throws ApiError as `updateIssue`
 */
export async function editIssue(
  tx: Database,
  acting: Acting,
  project: Project,
  issue: { id: number; iid: number },
  changes: IssueChanges,
): Promise<void> {
  if (!changes.description) return updateIssue(tx, acting, project, issue.id, changes);
  const { text: description, commands } = await extractCommands(changes.description, issueNoun);
  await updateIssue(tx, acting, project, issue.id, { ...changes, description });
  const on = { id: issue.id, iid: issue.iid, kind: issueKind, in: { project }, access_level: project.access_level };
  if (commands.length > 0) await applyCommands(tx, issueNoun, { ...acting, on, is_new: false }, commands);
}
