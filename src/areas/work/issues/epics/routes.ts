/** Epic issues: the issues of an epic, in manual order (docs/reference/issues.md). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import {
  epicKind,
  epicReader,
  isMemberOfProject,
  issueKind,
  isVisibleIssue,
  levels,
  projectState,
} from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import {
  ApiError,
  atLeastOneOf,
  type Caller,
  conflict,
  del,
  forbidden,
  found,
  get,
  Id,
  one,
  optional,
  type Page,
  pageOf,
  post,
  put,
  resource,
  type Services,
  unprocessable,
} from '../../../../http/index.ts';
import { type Paging, paginate, paging } from '../../../../lists/index.ts';
import { addToEpic, confidentialEpicText, type EpicRefusal, removeFromEpic } from '../../epics/issue_actions.ts';
import { issuesIn, moveInEpic } from '../../epics/position_actions.ts';
import { newPosition } from '../../epics/position_parameters.ts';
import { Epic, presentSingleEpic } from '../../epics/present.ts';
import { assignedText, noMatchText } from '../../issuables/rules.ts';
import { Issue, presentIssues, presentSingleIssue } from '../present.ts';

const path = '/groups/:id/epics/:epic_iid/issues';

export const EpicIssue = resource('EpicIssue', {
  ...Issue.properties,
  epic_issue_id: Id,
  relative_position: Type.Integer(),
});
type EpicIssueReply = Awaited<ReturnType<typeof presentIssues>>[number] & {
  epic_issue_id: number;
  relative_position: number;
};

const EpicIssueLink = resource('EpicIssueLink', {
  id: Id,
  relative_position: optional(Type.Integer()),
  epic: Epic,
  issue: Issue,
});

/** The issues of an epic that the caller may read, with a flag whether the caller is a member of the project. */
const linksOf = (db: Database, caller: Caller, epic: { id: number }) =>
  db
    .selectFrom('epic_issues')
    .innerJoin('issues', 'issues.id', 'epic_issues.issue_id')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['epic_issues.id', 'epic_issues.relative_position', 'epic_issues.issue_id', 'issues.project_id'])
    .select(mayRelate(caller).as('may_relate'))
    .where('epic_issues.epic_id', '=', epic.id)
    .where(isVisibleIssue(caller));

/** A predicate on rows of `projects`: the caller may assign its issues to epics, as a member of a project that is not read-only. */
const mayRelate = (caller: Caller) =>
  sql<boolean>`(${caller.admin ? sql`true` : isMemberOfProject(caller, levels.guest)} and not ${projectState.read_only})`;

async function pageOfIssues(
  services: Pick<Services, 'db' | 'url'>,
  caller: Caller,
  epic: { id: number },
  input: Paging,
): Promise<Page<EpicIssueReply>> {
  const { db } = services;
  const ordered = linksOf(db, caller, epic).orderBy('epic_issues.relative_position').orderBy('epic_issues.id');
  const { items, ...page } = await paginate(db, ordered, input);
  const ids = items.map(({ issue_id }) => issue_id);
  const issues = new Map((await presentIssues(services, caller, ids)).map((issue) => [issue.id, issue]));
  const replies = items.flatMap(({ id, relative_position, issue_id }) => {
    const issue = issues.get(issue_id);
    return issue ? [{ ...issue, epic_issue_id: id, relative_position }] : [];
  });
  return { ...page, items: replies };
}

/**
 * An issue of the epic that the caller may move or remove.
 * @throws ApiError 404 if it does not exist, 403 for callers who are not members of its project
 */
async function linkFor(db: Database, caller: Caller, epic: { id: number }, epic_issue_id: number) {
  const link = found(
    undefined,
    await linksOf(db, caller, epic).where('epic_issues.id', '=', epic_issue_id).executeTakeFirst(),
  );
  if (!link.may_relate) throw forbidden();
  return link;
}

const noSuchIssue = () => new ApiError(404, { message: noMatchText(issueKind) });

/**
 * An issue that the caller may add to an epic.
 * @throws ApiError 404 if it does not exist, 403 for callers who are not members of its project
 */
async function issueFor(db: Database, caller: Caller, issue_id: number) {
  const issue = await db
    .selectFrom('issues')
    .innerJoin('projects', 'projects.id', 'issues.project_id')
    .select(['issues.id', 'issues.iid', 'issues.project_id', mayRelate(caller).as('may_relate')])
    .where('issues.id', '=', issue_id)
    .where(isVisibleIssue(caller))
    .executeTakeFirst();
  if (!issue) throw noSuchIssue();
  if (!issue.may_relate) throw forbidden();
  return issue;
}

/** @throws ApiError */
function refuse(refusal: EpicRefusal | undefined, { iid }: { iid: number }): void {
  if (refusal === undefined) return;
  if (refusal === 'already there') throw conflict(assignedText(issueKind));
  if (refusal === 'confidential epic') throw unprocessable(`#${iid} cannot be added: ${confidentialEpicText}`);
  throw noSuchIssue();
}

const routes = [
  get(path, {
    operation: 'listEpicIssues',
    summary: 'List the issues of an epic',
    access: epicReader,
    input: paging,
    returns: pageOf(EpicIssue),
    handle: ({ db, url, caller, epic, input }) => pageOfIssues({ db, url }, caller, epic, input),
  }),
  post(`${path}/:issue_id`, {
    operation: 'addEpicIssue',
    summary: 'Add an issue to an epic',
    access: epicReader,
    input: { issue_id: Type.Integer({ description: 'ID of the issue, not its number' }) },
    returns: one(EpicIssueLink),
    refusals: {
      404: noMatchText(issueKind),
      409: assignedText(issueKind),
      422: '#<iid> cannot be added: <reason>',
    },
    handle: async ({ db, url, caller, epic, input }) => {
      const issue = await issueFor(db, caller, input.issue_id);
      await db.transaction().execute(async (tx) => refuse(await addToEpic(tx, issue.id, epic.id, caller), issue));
      const link = await linksOf(db, caller, epic).where('issue_id', '=', issue.id).executeTakeFirst();
      const { id, relative_position } = found(undefined, link);
      return {
        id,
        relative_position,
        epic: await presentSingleEpic({ db, url }, caller, epic),
        issue: await presentSingleIssue({ db, url }, caller, issue),
      };
    },
  }),
  put(`${path}/:epic_issue_id`, {
    operation: 'reorderEpicIssue',
    summary: 'Reorder an issue of an epic',
    access: epicReader,
    input: {
      epic_issue_id: Id,
      ...newPosition('`epic_issue_id`'),
      ...paging,
    },
    rules: [atLeastOneOf('move_before_id', 'move_after_id')],
    returns: pageOf(EpicIssue),
    refusals: { 400: 'Issue could not be moved!' },
    handle: async ({ db, url, caller, epic, input: { epic_issue_id, ...input } }) => {
      const { id } = await linkFor(db, caller, epic, epic_issue_id);
      await moveInEpic(db, issuesIn(epic.id), issueKind, id, input);
      return pageOfIssues({ db, url }, caller, epic, input);
    },
  }),
  del(`${path}/:epic_issue_id`, {
    operation: 'removeEpicIssue',
    summary: 'Remove an issue from an epic',
    access: epicReader,
    input: { epic_issue_id: Id },
    returns: one(EpicIssueLink),
    handle: async ({ db, url, caller, epic, input }) => {
      const { id, issue_id, project_id } = await linkFor(db, caller, epic, input.epic_issue_id);
      await db.transaction().execute((tx) => removeFromEpic(tx, issue_id, caller));
      return {
        id,
        epic: await presentSingleEpic({ db, url }, caller, epic),
        issue: await presentSingleIssue({ db, url }, caller, { id: issue_id, project_id }),
      };
    },
  }),
];

export const epicIssueRoutes = epicKind.endpoints(routes);
