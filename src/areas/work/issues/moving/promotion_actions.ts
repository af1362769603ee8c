/** Promoting an issue to an epic (the quick action `/promote`). */
import { groupFor, issueKind, levels, type Project, theEpic, theIssue } from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import { reaches } from '../../../../http/index.ts';
import { noteOnBoth } from '../../../conversation/notes/index.ts';
import type { Acting } from '../../../conversation/quick_actions/index.ts';
import { labelsOf } from '../../../planning/labels/index.ts';
import { createEpic } from '../../epics/actions.ts';
import { changeIssue } from '../change_actions.ts';
import { copyNotesElsewhere, textsElsewhere } from './text_actions.ts';

/**
 * Creates an epic from an issue and its comments in the group of the project, and closes the issue. Project labels are not copied: the group does not have them.
 * @param tx a transaction
 * @param project the project of the issue
 * @returns false if the caller may not promote it, or the project is not in a group
 */
export async function promoteToEpic(
  tx: Database,
  acting: Acting,
  project: Project,
  issue_id: number,
): Promise<boolean> {
  const { caller, plan } = acting;
  const group = await groupFor(tx, caller, String(project.namespace_id));
  if (!group || group.access_level < levels.planner || !reaches(plan, 'premium')) return false;
  const issue = await tx
    .selectFrom('issues')
    .select(['iid', 'title', 'description', 'confidential', 'state'])
    .where('id', '=', issue_id)
    .forNoKeyUpdate()
    .executeTakeFirstOrThrow();
  if (issue.state === 'closed') return false;
  const labels = await labelsOf(tx, issueKind, issue_id);
  const move = { source: project, target: { project_id: null, group_id: group.id } };
  const epic = await createEpic(tx, acting, group, {
    title: issue.title,
    description: issue.description === null ? undefined : (await textsElsewhere(tx, [issue.description], move))[0],
    confidential: issue.confidential,
    labels: labels.filter(({ group_id }) => group_id !== null).map(({ title }) => title),
  });
  const [onIssue, onEpic] = [theIssue(issue_id), theEpic(epic.id)];
  await copyNotesElsewhere(tx, onIssue, onEpic, move);
  const [promotedTo, promotedFrom] = [
    `promoted to epic &${epic.iid}`,
    `promoted from issue ${project.full_path}#${issue.iid}`,
  ];
  await noteOnBoth(tx, caller.id, [onIssue, promotedTo], [onEpic, promotedFrom]);
  await changeIssue(tx, acting, project, issue_id, { state_event: 'close' });
  return true;
}
