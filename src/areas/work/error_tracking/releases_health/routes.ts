/** The health of releases: the outcomes of user sessions. */
import { sql } from 'kysely';
import { Type } from 'typebox';
import { projectRole } from '../../../../access/index.ts';
import { get, nullable, offeredOn, optional, pageOf, resource, Timestamp } from '../../../../http/index.ts';
import { mapPage, paginate, paging } from '../../../../lists/index.ts';

const Count = (description: string) => Type.Integer({ description });
export const ReleaseHealth = resource('ErrorTrackingReleaseHealth', {
  release: Type.String(),
  environment: Type.String(),
  started: Count('Sessions that have not ended'),
  exited: Count('Sessions that ended well'),
  errored: Count('Sessions with errors'),
  crashed: Count('Sessions that ended with a crash'),
  abnormal: Count('Sessions that ended without saying how'),
  users: Count('Users that clients named'),
  crash_free_sessions: nullable(
    Type.Number({
      description: 'Percentage of the sessions that did not crash, with two decimals; null without sessions',
    }),
  ),
  last_seen_at: Timestamp,
});

const states = ['started', 'exited', 'errored', 'crashed', 'abnormal'] as const;
type Counts = Record<(typeof states)[number], number>;

function crashFree(counts: Counts): number | null {
  const all = states.reduce((sum, state) => sum + counts[state], 0);
  return all === 0 ? null : Math.round((1 - counts.crashed / all) * 10_000) / 100;
}

const sumOf = (state: (typeof states)[number]) => sql<number>`coalesce(sum(${sql.ref(state)}), 0)::bigint`.as(state);

export const releaseHealthRoutes = offeredOn(
  ['hosted'],
  [
    get('/projects/:id/error_tracking/releases_health', {
      operation: 'listErrorTrackingReleasesHealth',
      summary: 'List the releases of a project with the counts of their sessions, the last seen first',
      access: projectRole('reporter'),
      input: {
        release: optional(Type.String({ description: 'Only this release' })),
        environment: optional(Type.String({ description: 'Only this environment' })),
        ...paging,
      },
      returns: pageOf(ReleaseHealth),
      handle: async ({ db, project, input }) => {
        const { release, environment } = input;
        const releases = db
          .selectFrom('error_tracking_releases as releases')
          .innerJoinLateral(
            (eb) =>
              eb
                .selectFrom('error_tracking_release_hours as hours')
                .select(states.map(sumOf))
                .whereRef('hours.release_id', '=', 'releases.id')
                .as('counts'),
            (join) => join.onTrue(),
          )
          .select(['release', 'environment', 'users_count as users', 'last_seen_at', ...states])
          .where('project_id', '=', project.id)
          .$if(release !== undefined, (all) => all.where('release', '=', release!))
          .$if(environment !== undefined, (all) => all.where('environment', '=', environment!))
          .orderBy('last_seen_at', 'desc')
          .orderBy('releases.id', 'desc');
        return mapPage(await paginate(db, releases, input), (row) => ({ ...row, crash_free_sessions: crashFree(row) }));
      },
    }),
  ],
);
