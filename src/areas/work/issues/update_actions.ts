/** Updating issues: the requested changes, and the quick actions in a new description. */
import { issueKind, type Project } from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { type Acting, changeWithCommands } from '../../conversation/quick_actions/index.ts';
import { changeIssue, type IssueChanges } from './change_actions.ts';
import { issueNoun } from './noteable.ts';

/**
 * Changes an issue like `changeIssue`, then applies the quick actions in its new description that the caller may use. They are removed from the text.
 * @param tx the transaction of the change
 * @throws ApiError as `changeIssue`
 */
export function updateIssue(
  tx: Database,
  acting: Acting,
  project: Project,
  { id, iid }: { id: number; iid: number },
  changes: IssueChanges,
): Promise<void> {
  const on = { id, iid, kind: issueKind, in: { project }, access_level: project.access_level };
  return changeWithCommands(tx, issueNoun.quickActions, { ...acting, on }, changes, (given) =>
    changeIssue(tx, acting, project, id, given),
  );
}
