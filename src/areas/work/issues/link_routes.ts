/** Links between issues: which belong together, and which block which (issues.md section 11). */
import { sql } from 'kysely';
import { type Static, Type } from 'typebox';
import {
  type GrantedIssue,
  issueFor,
  issueReader,
  issueVisible,
  isVisibleIssue,
  type MaybeCaller,
  mayReadIssue,
  type Project,
  visibleProject,
} from '../../../access/index.ts';
import type { Database } from '../../../db/index.ts';
import {
  ApiError,
  type Caller,
  conflict,
  del,
  forbidden,
  found,
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
import {
  addLink,
  Issue,
  type IssueReply,
  isLinkable,
  issueFields,
  type LinkedIssue,
  presentIssues,
  referenceTo,
  removeLink,
  visibleIssues,
} from './index.ts';

const LinkType = Type.Enum(['relates_to', 'blocks', 'is_blocked_by']);

const LinkedIssueReply = resource('LinkedIssue', {
  ...issueFields,
  issue_link_id: Id,
  link_type: Type.Enum(['relates_to', 'blocks', 'is_blocked_by'], { description: 'What the issue of the list is to this one' }),
  link_created_at: Timestamp,
  link_updated_at: Timestamp,
});
const IssueLink = resource('IssueLink', { id: Id, source_issue: Issue, target_issue: Issue, link_type: LinkType });

const path = '/projects/:id/issues/:issue_iid/links';

const licenseText = 'Blocked issues not available for current license';
const roleText = "Couldn't link issue. You must have at least the Reporter role in both projects.";
const missingText = 'No matching issue found. Make sure that you are adding a valid issue URL.';

interface LinkRow {
  id: number;
  source_id: number;
  target_id: number;
  link_type: 'relates_to' | 'blocks';
}

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

/**
 * A link of the issue to one that the caller may read.
 * @throws ApiError 404
 */
async function linkOf(db: Database, caller: MaybeCaller, issue: GrantedIssue, id: number): Promise<LinkRow> {
  const { rows } = await sql<LinkRow>`
    select issue_links.id, source_id, target_id, link_type from issue_links
      join issues on issues.id = case when source_id = ${issue.id} then target_id else source_id end
      join projects on projects.id = issues.project_id
     where issue_links.id = ${id} and ${issue.id} in (source_id, target_id) and ${isVisibleIssue(caller)}`.execute(db);
  return found(undefined, rows[0]);
}

/** The issues that one is linked to, as far as the caller may read them, the oldest link first. */
async function linkedTo(services: Pick<Services, 'db' | 'url'>, { caller, project }: Place, issue: GrantedIssue) {
  const { rows } = await sql<{ id: number } & Omit<Static<typeof LinkedIssueReply>, keyof IssueReply>>`
    select issues.id, issue_links.id as issue_link_id, issue_links.created_at as link_created_at, issue_links.updated_at as link_updated_at,
           case when link_type = 'relates_to' then link_type when source_id = issues.id then 'blocks' else 'is_blocked_by' end as link_type
      from (select * from issue_links where source_id = ${issue.id} union all select * from issue_links where target_id = ${issue.id}) issue_links
      join issues on issues.id = case when source_id = ${issue.id} then target_id else source_id end
      join projects on projects.id = issues.project_id
     where ${isVisibleIssue(caller)} order by issue_links.id`.execute(services.db);
  const ids = rows.map(({ id }) => id);
  const issues = await presentIssues(services, caller, ids, { relative_to: project.id });
  const known = new Map(issues.map((reply) => [reply.id, reply]));
  return rows.flatMap(({ id, ...link }) => (known.has(id) ? [{ ...known.get(id)!, ...link }] : []));
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
    summary: 'List the issues that an issue is linked to, the oldest link first',
    access: issueVisible,
    returns: listOf(LinkedIssueReply),
    handle: ({ db, url, caller, project, issue }) => linkedTo({ db, url }, { caller, project }, issue),
  }),
  post(path, {
    summary: 'Link an issue to another one',
    access: issueReader,
    input: {
      target_project_id: Type.String({ description: 'Id or full path' }),
      target_issue_iid: Type.Integer(),
      link_type: Type.Enum(['relates_to', 'blocks', 'is_blocked_by'], {
        default: 'relates_to',
        description: 'What this issue is to the other one; Premium, except for `relates_to`',
      }),
    },
    returns: one(IssueLink),
    handle: async ({ db, url, caller, project, issue, plan, input: { target_project_id, target_issue_iid, link_type } }) => {
      if (!isLinkable(project)) throw new ApiError(403, { message: roleText });
      const target = await targetNamed(db, caller, target_project_id, target_issue_iid);
      if (link_type !== 'relates_to' && !reaches(plan, 'premium')) throw new ApiError(403, { message: licenseText });
      const source = { ...issue, full_path: project.full_path };
      if (target.id === source.id)
        throw unprocessable(`${referenceTo(project.id, target)} cannot be added: cannot be related to itself`);
      const id = await db.transaction().execute((tx) => addLink(tx, caller.id, [source, target], link_type));
      if (id === undefined) throw conflict('Issue(s) already assigned');
      return presentLink({ db, url }, { caller, project }, await linkOf(db, caller, issue, id));
    },
  }),
  get(`${path}/:issue_link_id`, {
    summary: 'Show a link of an issue',
    access: issueVisible,
    input: { issue_link_id: Id },
    returns: one(IssueLink),
    handle: async ({ db, url, caller, project, issue, input }) =>
      presentLink({ db, url }, { caller, project }, await linkOf(db, caller, issue, input.issue_link_id)),
  }),
  del(`${path}/:issue_link_id`, {
    summary: 'End a link of an issue',
    access: issueReader,
    input: { issue_link_id: Id },
    returns: withStatus(200, one(IssueLink)),
    handle: async ({ db, url, caller, project, issue, input }) => {
      const link = await linkOf(db, caller, issue, input.issue_link_id);
      const [source, target] = await visibleIssues(db, caller, [link.source_id, link.target_id]);
      if (!source || !target || ![source, target].every(isLinkable)) throw forbidden();
      const reply = await presentLink({ db, url }, { caller, project }, link);
      await db.transaction().execute((tx) => removeLink(tx, caller.id, [source, target]));
      return reply;
    },
  }),
];
