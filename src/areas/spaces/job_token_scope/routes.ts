/** Which jobs get into a project with their tokens (docs/reference/job_tokens.md#other-projects). */
import { Type } from 'typebox';
import { isVisibleGroup, projectRole, visibleGroup, visibleProject } from '../../../access/index.ts';
import { stamped } from '../../../db/index.ts';
import {
  type AnyEndpoint,
  badRequest,
  del,
  get,
  Id,
  nothing,
  one,
  pageOf,
  patch,
  post,
  resource,
} from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { PublicGroupDetails, presentPublicGroup, publicGroups } from '../../people/namespaces/index.ts';
import { ProjectBasicForm, presentProjectBasic } from '../projects/present.ts';
import { visibleProjectRows } from '../projects/queries.ts';
import { allow, disallow, groupList, projectList, tooManyText } from './actions.ts';

const JobTokenScope = resource('JobTokenScope', {
  inbound_enabled: Type.Boolean({ description: 'Whether only jobs on the lists get in' }),
  outbound_enabled: Type.Boolean({ description: 'Whether its own jobs get into listed projects only: false' }),
});
const AllowedProject = resource('JobTokenProject', { source_project_id: Id, target_project_id: Id });
const AllowedGroup = resource('JobTokenGroup', { source_project_id: Id, target_group_id: Id });

const path = '/projects/:id/job_token_scope';
const projects = `${path}/allowlist`;
const groups = `${path}/groups_allowlist`;
const maintainer = projectRole('maintainer');
const missing = '404 Not found';

const switching: AnyEndpoint[] = [
  get(path, {
    operation: 'getJobTokenScope',
    summary: 'Get whether only jobs of certain projects get into a project',
    access: maintainer,
    returns: one(JobTokenScope),
    handle: async ({ db, project }) => {
      const { ci_inbound_job_token_scope_enabled: inbound_enabled } = await db
        .selectFrom('projects')
        .select('ci_inbound_job_token_scope_enabled')
        .where('id', '=', project.id)
        .executeTakeFirstOrThrow();
      return { inbound_enabled, outbound_enabled: false };
    },
  }),
  patch(path, {
    operation: 'updateJobTokenScope',
    summary: 'Set whether only jobs of certain projects get into a project',
    access: maintainer,
    input: { enabled: Type.Boolean() },
    returns: nothing,
    handle: async ({ db, project, input }) => {
      const changes = stamped({ ci_inbound_job_token_scope_enabled: input.enabled });
      await db.updateTable('projects').set(changes).where('id', '=', project.id).execute();
    },
  }),
];

const ofProjects: AnyEndpoint[] = [
  get(projects, {
    operation: 'listJobTokenProjects',
    summary: 'List the projects whose jobs get into a project, itself among them, as far as the caller sees them',
    access: maintainer,
    input: paging,
    returns: pageOf(ProjectBasicForm),
    handle: async ({ caller, project, input, ...services }) => {
      const { db } = services;
      const rows = visibleProjectRows(db, caller).where((q) =>
        q.or([
          q('projects.id', '=', project.id),
          q(
            'projects.id',
            'in',
            q.selectFrom('job_token_projects').select('allowed_id').where('project_id', '=', project.id),
          ),
        ]),
      );
      return mapPage(await paginate(db, rows.orderBy('projects.id'), input), (row) =>
        presentProjectBasic(services, row),
      );
    },
  }),
  post(projects, {
    operation: 'createJobTokenProject',
    summary: 'Let the jobs of another project get into a project',
    access: maintainer,
    input: { target_project_id: Id },
    returns: one(AllowedProject),
    refusals: { 400: [projectList.taken, tooManyText], 404: '404 Project Not Found' },
    handle: async ({ db, caller, project, input }) => {
      const { id } = await visibleProject(db, caller, String(input.target_project_id));
      if (id === project.id) throw badRequest(projectList.taken);
      await allow(db, projectList, project.id, id);
      return { source_project_id: project.id, target_project_id: id };
    },
  }),
  del(`${projects}/:target_project_id`, {
    operation: 'deleteJobTokenProject',
    summary: 'Let the jobs of another project no longer get into a project',
    access: maintainer,
    input: { target_project_id: Id },
    returns: nothing,
    refusals: { 404: missing },
    handle: ({ db, project, input }) => disallow(db, projectList, project.id, input.target_project_id),
  }),
];

const ofGroups: AnyEndpoint[] = [
  get(groups, {
    operation: 'listJobTokenGroups',
    summary: 'List the groups whose jobs get into a project, as far as the caller sees them',
    access: maintainer,
    input: paging,
    returns: pageOf(PublicGroupDetails),
    handle: async ({ db, url, caller, project, input }) => {
      const rows = publicGroups(db)
        .where(isVisibleGroup(caller))
        .where('id', 'in', (q) =>
          q.selectFrom('job_token_groups').select('group_id').where('project_id', '=', project.id),
        );
      return mapPage(await paginate(db, rows.orderBy('id'), input), (row) => presentPublicGroup(url, row));
    },
  }),
  post(groups, {
    operation: 'createJobTokenGroup',
    summary: 'Let the jobs of all projects below a group get into a project',
    access: maintainer,
    input: { target_group_id: Id },
    returns: one(AllowedGroup),
    refusals: { 400: [groupList.taken, tooManyText], 404: '404 Group Not Found' },
    handle: async ({ db, caller, project, input }) => {
      const { id } = await visibleGroup(db, caller, String(input.target_group_id));
      await allow(db, groupList, project.id, id);
      return { source_project_id: project.id, target_group_id: id };
    },
  }),
  del(`${groups}/:target_group_id`, {
    operation: 'deleteJobTokenGroup',
    summary: 'Let the jobs below a group no longer get into a project',
    access: maintainer,
    input: { target_group_id: Id },
    returns: nothing,
    refusals: { 404: missing },
    handle: ({ db, project, input }) => disallow(db, groupList, project.id, input.target_group_id),
  }),
];

export const jobTokenScopeRoutes: readonly AnyEndpoint[] = [...switching, ...ofProjects, ...ofGroups];
