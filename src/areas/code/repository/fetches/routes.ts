/** Numbers of clones and fetches of a project (docs/reference/repository.md#fetches). */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { projectRole } from '../../../../access/index.ts';
import { DateOnly, get, one, resource } from '../../../../http/index.ts';
import { countsFetches, writeFetches } from './actions.ts';
import { shown_days } from './jobs.ts';

const Count = Type.Integer();
const Statistics = resource('ProjectStatistics', {
  fetches: Type.Object({
    total: Count,
    days: Type.Array(Type.Object({ count: Count, date: DateOnly }), {
      description: 'Newest first; days without are left out',
    }),
  }),
});

export const fetchStatisticRoutes = [
  get('/projects/:id/statistics', {
    operation: 'getProjectStatistics',
    summary: 'Show how often a project was cloned and fetched over HTTP in the last 30 days',
    access: projectRole('reporter', { archived: true }),
    returns: one(Statistics),
    handle: async ({ project, ...services }) => {
      const { db } = services;
      // The counts of this process show at once.
      if (countsFetches(services)) await writeFetches(db);
      const days = await db
        .selectFrom('project_fetches')
        .select(['count', 'date'])
        .where('project_id', '=', project.id)
        .where('date', '>', sql<string>`(now() at time zone 'UTC')::date - ${sql.lit(shown_days)}`)
        .orderBy('date', 'desc')
        .execute();
      return { fetches: { total: days.reduce((sum, { count }) => sum + count, 0), days } };
    },
  }),
];
