/** Links between issues: which belong together, and which block which (docs/reference/issues.md). */
import { type Static, Type } from 'typebox';
import {
  type GrantedIssue,
  issueFor,
  issueKind,
  issueReader,
  issueVisible,
  type MaybeCaller,
  mayReadIssue,
  type Project,
  theIssue,
  visibleProject,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  ApiError,
  type Caller,
  conflict,
  del,
  forbidden,
  get,
  Id,
  listOf,
  one,
  post,
  reaches,
  resource,
  type Services,
  Timestamp,
  unprocessable,
  withStatus,
} from '../../../http/index.ts';
import { addLink, type LinkRow, linkedTo, linkOf, referenceTo, removeLink } from '../issuables/index.ts';
import { isLinkable, type LinkedIssue, visibleIssues } from './link_queries.ts';
import { Issue, issueFields, presentIssues } from './present.ts';

const LinkType = Type.Enum(['relates_to', 'blocks', 'is_blocked_by']);

const LinkedIssueReply = resource('LinkedIssue', {
  ...issueFields,
  issue_link_id: Id,
  link_type: Type.Enum(['relates_to', 'blocks', 'is_blocked_by'], { description: 'Relation of the listed issue to this one' }),
  link_created_at: Timestamp,
  link_updated_at: Timestamp,
});
const IssueLink = resource('IssueLink', { id: Id, source_issue: Issue, target_issue: Issue, link_type: LinkType });

const path = '/projects/:id/issues/:issue_iid/links';

const licenseText = 'Blocked issues not available for current license';
const roleText = "Couldn't link issue. You must have at least the Reporter role in both projects.";
const missingText = 'No matching issue found. Make sure that you are adding a valid issue URL.';

interface Place {
  caller: MaybeCaller;
  project: Project;
}

/** A link as a reply; the issues are the caller's to read. */
async function presentLink(
  services: Pick<Services, 'db' | 'url'>,
  { caller, project }: Place,
  { id, source_id, target_id, link_type }: LinkRow,
): Promise<Static<typeof IssueLink>> {
  const ids = [source_id, target_id];
  const issues = await presentIssues(services, caller, ids, { relative_to: project.id });
  return { id, source_issue: issues[0]!, target_issue: issues[1]!, link_type };
}

/** The issues that one is linked to, as far as the caller may read them, the oldest link first. */
async function linkedIssues(services: Pick<Services, 'db' | 'url'>, { caller, project }: Place, issue: GrantedIssue) {
  const links = await linkedTo(services.db, caller, theIssue(issue.id));
  const ids = links.map(({ id }) => id);
  const issues = await presentIssues(services, caller, ids, { relative_to: project.id });
  const known = new Map(issues.map((reply) => [reply.id, reply]));
  return links.flatMap(({ id, link_id: issue_link_id, ...link }) =>
    known.has(id) ? [{ ...known.get(id)!, issue_link_id, ...link }] : [],
  );
}

/**
 * The issue that a new link is to lead to.
 * @throws ApiError 404 for what is not there, 403 where the caller may not link it
 */
async function targetNamed(db: Database, caller: Caller, project_id: string, iid: number): Promise<LinkedIssue> {
  const project = await visibleProject(db, caller, project_id);
  const target = await issueFor(db, caller, project, iid);
  if (!target || !mayReadIssue(project, target)) throw new ApiError(404, { message: missingText });
  if (!isLinkable(project)) throw new ApiError(403, { message: roleText });
  return { ...target, full_path: project.full_path };
}

export const issueLinkRoutes = [
  get(path, {
    operation: 'listIssueLinks',
    summary: 'List the links of an issue, oldest first',
    access: issueVisible,
    returns: listOf(LinkedIssueReply),
    handle: ({ db, url, caller, project, issue }) => linkedIssues({ db, url }, { caller, project }, issue),
  }),
  post(path, {
    operation: 'createIssueLink',
    summary: 'Create an issue link',
    access: issueReader,
    input: {
      target_project_id: Type.String({ description: 'Id or full path' }),
      target_issue_iid: Type.Integer(),
      link_type: Type.Enum(['relates_to', 'blocks', 'is_blocked_by'], {
        default: 'relates_to',
        description: 'Relation of this issue to the other one; all but `relates_to` need Premium',
      }),
    },
    returns: one(IssueLink),
    refusals: {
      403: [
        'Blocked issues not available for current license',
        "Couldn't link issue. You must have at least the Reporter role in both projects.",
      ],
      404: ['404 Project Not Found', 'No matching issue found. Make sure that you are adding a valid issue URL.'],
      409: 'Issue(s) already assigned',
      422: '<issue> cannot be added: cannot be related to itself',
    },
    handle: async ({ db, url, caller, project, issue, plan, input: { target_project_id, target_issue_iid, link_type } }) => {
      if (!isLinkable(project)) throw new ApiError(403, { message: roleText });
      const target = await targetNamed(db, caller, target_project_id, target_issue_iid);
      if (link_type !== 'relates_to' && !reaches(plan, 'premium')) throw new ApiError(403, { message: licenseText });
      const source = { ...issue, full_path: project.full_path };
      if (target.id === source.id)
        throw unprocessable(`${referenceTo(issueKind, project.id, target)} cannot be added: cannot be related to itself`);
      const id = await db.transaction().execute((tx) => addLink(tx, issueKind, caller.id, [source, target], link_type));
      if (id === undefined) throw conflict('Issue(s) already assigned');
      return presentLink({ db, url }, { caller, project }, await linkOf(db, caller, theIssue(issue.id), id));
    },
  }),
  get(`${path}/:issue_link_id`, {
    operation: 'getIssueLink',
    summary: 'Get an issue link',
    access: issueVisible,
    input: { issue_link_id: Id },
    returns: one(IssueLink),
    handle: async ({ db, url, caller, project, issue, input }) =>
      presentLink({ db, url }, { caller, project }, await linkOf(db, caller, theIssue(issue.id), input.issue_link_id)),
  }),
  del(`${path}/:issue_link_id`, {
    operation: 'deleteIssueLink',
    summary: 'Delete an issue link',
    access: issueReader,
    input: { issue_link_id: Id },
    returns: withStatus(200, one(IssueLink)),
    handle: async ({ db, url, caller, project, issue, input }) => {
      const link = await linkOf(db, caller, theIssue(issue.id), input.issue_link_id);
      const [source, target] = await visibleIssues(db, caller, [link.source_id, link.target_id]);
      if (!source || !target || ![source, target].every(isLinkable)) throw forbidden();
      const reply = await presentLink({ db, url }, { caller, project }, link);
      await db.transaction().execute((tx) => removeLink(tx, issueKind, caller.id, [source, target]));
      return reply;
    },
  }),
];
