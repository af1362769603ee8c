/** Resource groups: what only one job of a project may use at a time (docs/reference/pipelines.md#resource-groups). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { projectRole } from '../../../access/index.ts';
import { columnsOf, type Database, repeated, stamped } from '../../../db/index.ts';
import { found, get, Id, one, pageOf, put, resource, Timestamp } from '../../../http/index.ts';
import { paginate, paging } from '../../../lists/index.ts';
import { Job, jobReply, jobsOf, presentJobs } from '../../code/jobs/index.ts';
import { handOn } from '../running/process_actions.ts';
import { isNewestFirst, occupying, processModes, upcoming } from '../running/rules.ts';

const ResourceGroup = resource('ResourceGroup', {
  id: Id,
  key: Type.String(),
  process_mode: Type.Enum([...processModes]),
  created_at: Timestamp,
  updated_at: Timestamp,
});
const columns = columnsOf(ResourceGroup);

const path = '/projects/:id/resource_groups';
const single = { key: Type.String() };
const developer = projectRole('developer', { feature: ['repository', 'builds'] });
const missing = '404 Resource Group Not Found';

const groupsOf = (db: Database, project_id: number) =>
  db
    .selectFrom('resource_groups')
    .select(columns)
    .select((q) => q.ref('process_mode').$castTo<(typeof processModes)[number]>().as('process_mode'))
    .where('project_id', '=', project_id);

/** @throws ApiError 404 */
const groupOf = async (db: Database, project_id: number, key: string) =>
  found('Resource Group', await groupsOf(db, project_id).where('key', '=', key).executeTakeFirst());

export const resourceGroupRoutes = [
  get(path, {
    operation: 'listResourceGroups',
    summary: 'List the resource groups of a project, by key',
    access: developer,
    input: paging,
    returns: pageOf(ResourceGroup),
    handle: ({ db, project, input }) => paginate(db, groupsOf(db, project.id).orderBy('key'), input),
  }),
  get(`${path}/:key`, {
    operation: 'getResourceGroup',
    summary: 'Get a resource group',
    access: developer,
    input: single,
    returns: one(ResourceGroup),
    refusals: { 404: missing },
    handle: ({ db, project, input }) => groupOf(db, project.id, input.key),
  }),
  put(`${path}/:key`, {
    operation: 'updateResourceGroup',
    summary: 'Decide which job of a resource group is next',
    access: developer,
    input: { ...single, process_mode: Type.Enum([...processModes]) },
    returns: one(ResourceGroup),
    refusals: { 404: missing },
    handle: ({ db, project, input: { key, process_mode } }) =>
      repeated(db, async (tx) => {
        const { id } = await groupOf(tx, project.id, key);
        await tx.updateTable('resource_groups').set(stamped({ process_mode })).where('id', '=', id).execute();
        await handOn(tx, id);
        return groupOf(tx, project.id, key);
      }),
  }),
  get(`${path}/:key/upcoming_jobs`, {
    operation: 'listUpcomingJobs',
    summary: 'List the jobs that wait for a resource, the next one first',
    access: developer,
    input: { ...single, ...paging },
    returns: pageOf(Job),
    refusals: { 404: missing },
    handle: async ({ project, input, ...services }) => {
      const { id, process_mode } = await groupOf(services.db, project.id, input.key);
      const query = jobsOf(services.db, project)
        .where('resource_group_id', '=', id)
        .where('status', 'in', upcoming(process_mode))
        .orderBy('pipeline_id', isNewestFirst(process_mode) ? 'desc' : 'asc')
        .orderBy(sql`status = 'waiting_for_resource'`, 'desc')
        .orderBy('id');
      const page = await paginate(services.db, query, input);
      return { ...page, items: await presentJobs(services, project, page.items) };
    },
  }),
  get(`${path}/:key/current_job`, {
    operation: 'getCurrentJob',
    summary: 'Get the job that has a resource',
    access: developer,
    input: single,
    returns: one(Job),
    refusals: { 404: [missing, '404 Job Not Found'] },
    handle: async ({ project, input, ...services }) => {
      const { id } = await groupOf(services.db, project.id, input.key);
      const job = await jobsOf(services.db, project)
        .where('resource_group_id', '=', id)
        .where('status', 'in', occupying)
        .executeTakeFirst();
      return jobReply(services, project, found('Job', job).id);
    },
  }),
];
