/** Issue links: related issues and blocking issues (docs/reference/issues.md). */
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
} from '../../../../access/index.ts';
import type { Database } from '../../../../db/index.ts';
import {
  ApiError,
  type Caller,
  del,
  forbidden,
  get,
  Id,
  Iid,
  listOf,
  nullable,
  one,
  post,
  reaches,
  resource,
  type Services,
  withStatus,
} from '../../../../http/index.ts';
import { createLink, removeLink } from '../../issuables/links/actions.ts';
import { LinkType, linkedFields, linkRefusals, NewLinkType } from '../../issuables/links/parameters.ts';
import { type LinkRow, linkedWith, linkOf } from '../../issuables/links/queries.ts';
import { noMatchText } from '../../issuables/rules.ts';
import { Issue, presentIssues } from '../present.ts';
import { isLinkable, type LinkedIssue, visibleIssues } from './queries.ts';

export const LinkedIssueReply = resource('LinkedIssue', {
  ...Issue.properties,
  issue_link_id: Id,
  ...linkedFields(issueKind),
});
const IssueLink = resource('IssueLink', { id: Id, source_issue: Issue, target_issue: Issue, link_type: LinkType });

const path = '/projects/:id/issues/:issue_iid/links';

const licenseText = 'Blocked issues not available for current license';
const roleText = "Couldn't link issue. You must have at least the Reporter role in both projects.";

interface Viewer {
  caller: MaybeCaller;
  project: Project;
}

/** A link as a reply; the caller may read both issues. */
async function presentLink(
  services: Pick<Services, 'db' | 'url'>,
  { caller, project }: Viewer,
  { id, source_id, target_id, link_type }: LinkRow,
): Promise<Static<typeof IssueLink>> {
  const ids = [source_id, target_id];
  const issues = await presentIssues(services, caller, ids, { relative_to: project.id });
  return { id, source_issue: issues[0]!, target_issue: issues[1]!, link_type };
}

/** The linked issues that the caller may read, oldest link first. */
async function linkedIssues(services: Pick<Services, 'db' | 'url'>, { caller, project }: Viewer, issue: GrantedIssue) {
  const linked = await linkedWith(services.db, caller, theIssue(issue.id), (ids) =>
    presentIssues(services, caller, ids, { relative_to: project.id }),
  );
  return linked.map(({ thing, link_id: issue_link_id, link }) => ({ ...thing, issue_link_id, ...link }));
}

/**
 * The target issue of a new link.
 * @throws ApiError 404 if it does not exist, 403 if the caller may not link it
 */
async function targetNamed(db: Database, caller: Caller, project: Project, iid: number): Promise<LinkedIssue> {
  const target = await issueFor(db, caller, project, iid);
  if (!target || !mayReadIssue(project, target)) throw new ApiError(404, { message: noMatchText(issueKind) });
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
      target_project_id: nullable(Type.String({ description: 'ID or full path; null: the same project' })),
      target_issue_iid: Iid,
      link_type: NewLinkType(issueKind, '; all but `relates_to` need Premium'),
    },
    returns: one(IssueLink),
    refusals: {
      403: [licenseText, roleText],
      ...linkRefusals(issueKind),
    },
    handle: async ({
      db,
      url,
      caller,
      project,
      issue,
      plan,
      input: { target_project_id, target_issue_iid, link_type },
    }) => {
      if (!isLinkable(project)) throw new ApiError(403, { message: roleText });
      const at = target_project_id === null ? project : await visibleProject(db, caller, target_project_id);
      const target = await targetNamed(db, caller, at, target_issue_iid);
      if (link_type !== 'relates_to' && !reaches(plan, 'premium')) throw new ApiError(403, { message: licenseText });
      const source = { ...issue, full_path: project.full_path };
      const link = await createLink(db, issueKind, caller, [source, target], link_type);
      return presentLink({ db, url }, { caller, project }, link);
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
