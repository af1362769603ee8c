/** The operations of quick actions on issues. */
import {
  issueKind,
  type PlacedIssuable,
  type Project,
  projectFor,
  projectOf,
  theIssue,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import { noteOnBoth } from '../../conversation/notes/index.ts';
import type { Acting, Operations } from '../../conversation/quick_actions/index.ts';
import { ownOperations, timeOperations, unlessRefused } from '../issuables/command_actions.ts';
import { issueHook } from '../issuables/hooks/issue_present.ts';
import { addLink, removeLink } from '../issuables/links/actions.ts';
import { referenceTo } from '../issuables/rules.ts';
import { beginMergeRequest } from './branch_actions.ts';
import { changeIssue } from './change_actions.ts';
import { isLinkable, type LinkedIssue, visibleIssues } from './links/queries.ts';
import { cloneIssue, moveIssue } from './moving/actions.ts';
import { promoteToEpic } from './moving/promotion_actions.ts';

async function markDuplicate(
  tx: Database,
  acting: Acting,
  issue: LinkedIssue,
  project: Project,
  id: number,
): Promise<boolean> {
  const [canonical] = await visibleIssues(tx, acting.caller, [id]);
  if (!canonical || canonical.id === issue.id) return false;
  const author_id = acting.caller.id;
  const body = `marked this issue as a duplicate of ${referenceTo(issueKind, issue.project_id, canonical)}`;
  const there = `marked ${referenceTo(issueKind, canonical.project_id, issue)} as a duplicate of this issue`;
  await noteOnBoth(tx, author_id, [theIssue(issue.id), body], [theIssue(canonical.id), there]);
  await changeIssue(tx, acting, project, issue.id, { state_event: 'close', duplicated_to_id: canonical.id });
  return true;
}

function linkOperations(tx: Database, { caller }: Acting, issue: LinkedIssue): Pick<Operations, 'link' | 'unlink'> {
  return {
    link: async (issue_ids, type) => {
      const others = (await visibleIssues(tx, caller, issue_ids)).filter(({ id }) => id !== issue.id);
      if (others.length === 0 || !others.every(isLinkable)) return false;
      for (const other of others) await addLink(tx, issueKind, caller.id, [issue, other], type);
      return true;
    },
    unlink: async (issue_id) => {
      const [other] = await visibleIssues(tx, caller, [issue_id]);
      return other !== undefined && isLinkable(other) && removeLink(tx, issueKind, caller.id, [issue, other]);
    },
  };
}

function goingOperations(
  tx: Database,
  acting: Acting,
  source: Project,
  issue_id: number,
): Pick<Operations, 'move' | 'clone'> {
  const target = (project_id: number) => projectFor(tx, acting.caller, String(project_id));
  return {
    move: async (project_id) => {
      const project = await target(project_id);
      return project !== undefined && unlessRefused(moveIssue(tx, acting, { source, target: project, issue_id }));
    },
    clone: async (project_id, { with_notes }) => {
      const project = await target(project_id);
      return (
        project !== undefined &&
        unlessRefused(cloneIssue(tx, acting, { source, target: project, issue_id }, with_notes))
      );
    },
  };
}

/**
 * The operations of quick actions on an issue.
 * @param tx the transaction that stores the text of the commands
 */
export function issueOperations(tx: Database, acting: Acting, { id, iid, in: place }: PlacedIssuable): Operations {
  const project = projectOf(place);
  const issue: LinkedIssue = { id, iid, project_id: project.id, full_path: project.full_path };
  return {
    update: (changes) => changeIssue(tx, acting, project, id, changes),
    ...ownOperations(tx, acting, theIssue(id), issueHook),
    ...timeOperations(tx, acting, theIssue(id)),
    ...linkOperations(tx, acting, issue),
    markDuplicate: (canonical_issue_id) => markDuplicate(tx, acting, issue, project, canonical_issue_id),
    ...goingOperations(tx, acting, project, id),
    createMergeRequest: (branch) => beginMergeRequest(tx, acting, project, id, branch),
    promoteToEpic: () => promoteToEpic(tx, acting, project, id),
  };
}
