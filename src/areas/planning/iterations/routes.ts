/** Iterations: the time boxes in which a group works. They belong to cadences. */
import { Type } from 'typebox';
import { groupRole, projectRole } from '../../../access/index.ts';
import { get, type Page, pageOf } from '../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../lists/index.ts';
import { isInGroup, isInGroupOf, iterationListInput, iterationsMatching } from './filters.ts';
import { Iteration, type IterationRow, presentIteration } from './present.ts';
import { isIterationFor, iterationRows } from './queries.ts';

const presentPage = (url: string, page: Page<IterationRow>) => mapPage(page, (row) => presentIteration(url, row));

export const iterationRoutes = [
  get('/groups/:id/iterations', {
    operation: 'listGroupIterations',
    summary: 'List the iterations of a group, oldest first',
    access: groupRole('guest'),
    plan: 'premium',
    input: {
      ...paging,
      ...iterationListInput,
      include_descendants: Type.Boolean({ default: false, description: 'Include those of subgroups' }),
    },
    returns: pageOf(Iteration),
    handle: async ({ db, url, caller, group, input }) => {
      const query = iterationRows(db)
        .where(isInGroup(caller, group, input.include_ancestors, input.include_descendants))
        .where(iterationsMatching(input))
        .orderBy('iterations.start_date')
        .orderBy('iterations.id');
      return presentPage(url, await paginate(db, query, input));
    },
  }),
  get('/projects/:id/iterations', {
    operation: 'listProjectIterations',
    summary: 'List the iterations of a project and its groups, oldest first',
    access: projectRole('guest'),
    plan: 'premium',
    input: { ...paging, ...iterationListInput },
    returns: pageOf(Iteration),
    handle: async ({ db, url, project, input }) => {
      const query = iterationRows(db)
        .where(input.include_ancestors ? isIterationFor(project.id) : isInGroupOf(project))
        .where(iterationsMatching(input))
        .orderBy('iterations.start_date')
        .orderBy('iterations.id');
      return presentPage(url, await paginate(db, query, input));
    },
  }),
];
