/** Whether a site is healthy, and why not (docs/reference/geo.md#health). Pure functions. */
import type { Services } from '../../../../http/index.ts';
import { parts, type Replicable, replicables } from '../../replicas/definition.ts';
import type { Counter, SiteStatus } from './definition.ts';

/** A site is unhealthy if it has been silent, or lags behind, for longer. */
const tolerated_s = 60;

export interface Situation {
  /** The role of the server that responds. */
  role: Services['geo']['role'];
  enabled: boolean;
  hasCredential: boolean;
  /** The last reported status of the site; undefined if it has never reported. */
  status: SiteStatus | undefined;
  /** The age of the report. */
  age_s: number;
}

const sum = ({ counts }: SiteStatus, some: readonly Replicable[], counter: Counter): number =>
  some.reduce((total, name) => total + (counts[name][counter] ?? 0), 0);

const numbered = (count: number, one: string, many: string): string[] =>
  count === 0 ? [] : [`${count} ${count === 1 ? one : many}`];

/** `2 repositories and 1 file could not be copied.`; empty if the count is zero. */
function sentenceAbout(status: SiteStatus, counter: Counter, predicate: (isOne: boolean) => string): string[] {
  const [repositories, files] = [sum(status, parts.repositories, counter), sum(status, parts.files, counter)];
  const texts = [...numbered(repositories, 'repository', 'repositories'), ...numbered(files, 'file', 'files')];
  return texts.length === 0 ? [] : [`${texts.join(' and ')} ${predicate(repositories + files === 1)}.`];
}

const behind = (what: string, verb: string, seconds: number | null): string[] =>
  seconds !== null && seconds > tolerated_s ? [`${what} ${verb} ${seconds} seconds behind.`] : [];

type Signs = Pick<SiteStatus, 'problems' | 'db_replication_lag_seconds' | 'events_behind_seconds'>;

const signsOf = ({ problems, db_replication_lag_seconds, events_behind_seconds }: Signs): string[] => [
  ...problems,
  ...behind('The database', 'is', db_replication_lag_seconds),
  ...behind('The events', 'are', events_behind_seconds),
];

/** A text that changes with the reasons why a site is unhealthy, but not with the numbers in them. */
export const outlineOf = (signs: Signs, failures: object): string =>
  `${signsOf(signs).join(' ').replaceAll(/\d+/g, 'n')} ${JSON.stringify(failures)}`;

function reasonsOf(status: SiteStatus): string[] {
  const differing = sum(status, replicables, 'verification_failed_count');
  return [
    ...signsOf(status),
    ...sentenceAbout(status, 'failed_count', () => 'could not be copied'),
    ...(differing > 0 ? [`${differing} ${differing === 1 ? 'copy differs' : 'copies differ'} from the primary.`] : []),
    ...sentenceAbout(status, 'checksum_failed_count', (isOne) => `of the primary ${isOne ? 'is' : 'are'} damaged`),
  ];
}

/** The reasons why a site is unhealthy, as sentences, the worst first; empty if it is healthy. */
export function healthReasons({ role, enabled, hasCredential, status, age_s }: Situation): string[] {
  return [
    ...(role === undefined ? ['Geo is not set up on this site: COPPICE_GEO_ROLE is not set.'] : []),
    ...(enabled ? [] : ['The site is disabled.']),
    ...(status ? [] : ['The site has never reported its status.']),
    ...(status && age_s > tolerated_s
      ? [`The site has not reported its status for ${Math.floor(age_s)} seconds.`]
      : []),
    ...(hasCredential ? [] : ['The site has no valid credential. Repair it.']),
    ...(status ? reasonsOf(status) : []),
  ];
}

/** A percentage as clients show it, `"33.33%"`. It is 100 only if nothing is missing. */
export const percentage = (part: number | null, total: number | null): string =>
  `${(total ? Math.floor((10_000 * (part ?? 0)) / total) / 100 : 0).toFixed(2)}%`;
