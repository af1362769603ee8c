/** The access level of a feature × every operation below it. */
import assert from 'node:assert/strict';
import { test } from 'node:test';
import { sql } from 'kysely';
import { addThings, callerFor, paramsFor, ruledBy } from '../../test/support/access_table.ts';
import { world } from '../../test/support/world.ts';
import { endpoints } from '../areas/index.ts';
import type { Feature, FeatureLevel } from './projects.ts';

interface Below {
  /** What is below the feature, as the beginnings of what follows `/projects/:id/` in paths. */
  nouns: string;
  /** Among it, what is not: settings, and what asks the feature of another project. */
  except?: readonly string[];
  /** With `private`, whether it takes a level above Guest, because it shows code. */
  shows_code?: true;
}

/** Settings of Maintainers. */
const rules = [
  'POST approvals',
  'POST approval_rules',
  'PUT approval_rules/:approval_rule_id',
  'DELETE approval_rules/:approval_rule_id',
];

/** Forking is decided by the handler, which knows the level that it takes. */
const features: Readonly<Record<Exclude<Feature, 'forking'>, Below>> = {
  issues: {
    nouns: 'issues issues_statistics boards milestones/:milestone_id/issues error_tracking/errors/:error_id/issue',
  },
  merge_requests: {
    nouns:
      'merge_requests milestones/:milestone_id/merge_requests repository/commits/:sha/merge_requests approval_rules approvals',
    except: ['POST merge_requests', ...rules],
    shows_code: true,
  },
  repository: {
    nouns: `repository merge_requests milestones/:milestone_id/merge_requests approval_rules approvals deployments environments feature_flags feature_flags_client
      feature_flags_user_lists artifacts ci/lint pipeline pipelines resource_groups pipeline_schedules triggers secure_files jobs statuses languages dependencies dependency_list_exports releases push_rule/check`,
    except: [
      'POST ci/lint',
      ...['protect', 'unprotect'].map((verb) => `PUT repository/branches/:branch/${verb}`),
      ...['', '/:tag_name/assets/links', '/:tag_name/assets/links/:link_id'].map((path) => `GET releases${path}`),
      ...rules,
    ],
    shows_code: true,
  },
  snippets: { nouns: 'snippets' },
  environments: { nouns: 'environments deployments freeze_periods freeze_status' },
  wiki: { nouns: 'wikis' },
  feature_flags: { nouns: 'feature_flags feature_flags_client feature_flags_user_lists' },
  releases: { nouns: 'releases' },
  builds: {
    nouns:
      'artifacts pipeline pipeline_schedules resource_groups triggers secure_files pipelines/:pipeline_id/retry pipelines/:pipeline_id/cancel pipelines/:pipeline_id/metadata jobs/:job_id/play jobs/:job_id/retry jobs/:job_id/cancel jobs/:job_id/erase jobs/:job_id/artifacts',
    except: ['', '/tree', '/*artifact_path'].map((path) => `GET jobs/:job_id/artifacts${path}`),
  },
};

const isBelow = ({ nouns, except = [] }: Below, method: string, path: string): boolean =>
  !except.includes(`${method} ${path}`) &&
  nouns.split(/\s+/).some((noun) => path === noun || path.startsWith(`${noun}/`));

test('a disabled feature refuses everybody all that is below it, a private one those who are no members, and nothing else', async () => {
  const here = await world();
  const { db, project, group, people } = here;
  const things = await addThings(here);
  for (const [table, id] of [
    ['namespaces', group.id],
    ['projects', project.id],
  ] as const)
    await sql`update ${sql.table(table)} set visibility = 'public' where id = ${id}`.execute(db);
  const callers = {
    admin: callerFor(here, people.admin, true),
    owner: callerFor(here, people.owner),
    guest: callerFor(here, people.guest),
    outsider: callerFor(here, people.outsider),
    anonymous: undefined,
  };
  const operations = endpoints.flatMap((endpoint) => {
    const [, path] = /^\/projects\/:id\/(.+)$/.exec(endpoint.path) ?? [];
    return path === undefined ? [] : [{ endpoint, path: path.replace(/^-\//, '') }];
  });
  const answers = (endpoint: (typeof endpoints)[number]) =>
    Promise.all(
      Object.values(callers).map((caller) => ruledBy(here, endpoint, paramsFor(endpoint.path, here, things), caller)),
    );
  const names = Object.keys(callers);
  const usual = new Map<(typeof endpoints)[number], string[]>();
  for (const { endpoint } of operations) usual.set(endpoint, await answers(endpoint));
  const setLevel = (feature: string, level: FeatureLevel) =>
    sql`update projects set ${sql.ref(`${feature}_access_level`)} = ${level} where id = ${project.id}`.execute(db);
  const wrong: string[] = [];
  for (const [feature, below] of Object.entries(features)) {
    for (const level of ['disabled', 'private'] as const) {
      await setLevel(feature, level);
      for (const { endpoint, path } of operations) {
        const [before, now] = [usual.get(endpoint)!, await answers(endpoint)];
        for (const [index, name] of names.entries()) {
          const isKept =
            level === 'private' && (name === 'admin' || name === 'owner' || (name === 'guest' && !below.shows_code));
          const isMeant = isBelow(below, endpoint.method, path) && !isKept;
          const isRefused = now[index] === '403' || now[index] === '404';
          // What shows code may show a Guest less than its usual, and no more.
          const isRight =
            before[index] !== 'ok'
              ? now[index] !== 'ok'
              : isMeant
                ? isRefused || (level === 'private' && name === 'guest' && now[index] === 'ok')
                : now[index] === 'ok';
          if (!isRight)
            wrong.push(`${feature} ${level}: ${name} ${endpoint.method} ${path}: ${before[index]}, now ${now[index]}`);
        }
      }
      await setLevel(feature, 'enabled');
    }
  }
  assert.deepEqual(wrong, []);
});
