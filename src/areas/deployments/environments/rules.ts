/** Names, tiers and lifetimes of environments, and states of deployments (docs/reference/environments.md). */
import { randomInt } from 'node:crypto';
import { tooLong } from '../../../texts/index.ts';
import type { Tier } from '../protected_environments/rules.ts';

export const environmentStates = ['available', 'stopping', 'stopped'] as const;

export const deploymentStatuses = [
  'created',
  'blocked',
  'running',
  'success',
  'failed',
  'canceled',
  'skipped',
] as const;
export type DeploymentStatus = (typeof deploymentStatuses)[number];
/** The statuses that can be recorded. */
export const recordedStatuses = ['running', 'success', 'failed', 'canceled'] as const;
export type RecordedStatus = (typeof recordedStatuses)[number];

/** The most environments that a project can have. */
export const maximumEnvironments = 10_000;
export const tooManyText = `Maximum number of environments (${maximumEnvironments}) exceeded`;
const maximumLength = 255;
const maximumDescription = 10_000;
const maximumSlug = 24;

const allowedCharacters = "can contain only letters, digits, '-', '_', '/', '$', '{', '}', '.', and spaces";

/** The reasons for refusing the name of an environment. */
export function nameReasons(name: string): string[] {
  if (name.trim() === '') return ["can't be blank"];
  const isFit = /^[\w/${}. -]+$/.test(name) && !/^\/|\/$/.test(name);
  return [
    ...tooLong(name, maximumLength),
    ...(isFit ? [] : [`${allowedCharacters}, but it cannot start or end with '/'`]),
  ];
}

/** The reasons for refusing the URL of an environment; a blank one clears it. */
export function externalUrlReasons(url: string | null): string[] {
  if (url === null || url.trim() === '') return [];
  const { protocol } = URL.parse(url.trim()) ?? {};
  const isAllowed = protocol === 'http:' || protocol === 'https:';
  return [...tooLong(url, maximumLength), ...(isAllowed ? [] : ['is blocked: Only allowed schemes are http, https'])];
}

export const descriptionReasons = (text: string | null): string[] => tooLong(text ?? '', maximumDescription);

const tierPatterns: readonly (readonly [Tier, RegExp])[] = [
  ['development', /dev|review|trunk/i],
  ['testing', /test|tst|int|acceptance|qa|qc|control|quality/i],
  ['staging', /stg|staging|model|pre|demo|non/i],
  ['production', /prod|live/i],
];

/** The tier implied by the name of an environment. */
export const tierOf = (name: string): Tier => tierPatterns.find(([, pattern]) => pattern.test(name))?.[0] ?? 'other';

/** The name as a part of a host name, or undefined if a suffix is needed. */
export function plainSlug(name: string): string | undefined {
  return /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/.test(name) && name.length <= maximumSlug ? name : undefined;
}

/** The reasons for refusing the slug of an imported environment. */
export const slugReasons = (slug: string): string[] =>
  /^[a-z](?:[a-z0-9-]*[a-z0-9])?$/.test(slug) && slug.length <= maximumSlug ? [] : ['is invalid'];

const letters = 'abcdefghijklmnopqrstuvwxyz0123456789';
const suffixLength = 6;

/** The name as a part of a host name, with a suffix that tells similar names apart. */
export function suffixedSlug(name: string): string {
  const plain = name.toLowerCase().replaceAll(/[^a-z0-9]+/g, '-');
  const begun = /^[a-z]/.test(plain) ? plain : `env-${plain.replace(/^-/, '')}`;
  const suffix = Array.from({ length: suffixLength }, () => letters[randomInt(letters.length)]).join('');
  return `${begun.slice(0, maximumSlug - suffixLength - 1).replace(/-$/, '')}-${suffix}`;
}

const units = { second: 1, minute: 60, hour: 3600, day: 86_400, week: 604_800, month: 2_629_746, year: 31_556_952 };
const span = /^\s*(\d{1,9})\s*(second|minute|hour|day|week|month|year)s?\s*$/i;
/** The longest lifetime. */
export const longest_s = 100 * units.year;

/** The seconds in a text such as `3 days`; undefined if it cannot be parsed. */
export function secondsOf(text: string): number | undefined {
  const [, count, unit] = span.exec(text) ?? [];
  if (count === undefined || unit === undefined) return undefined;
  const seconds = Number(count) * units[unit.toLowerCase() as keyof typeof units];
  return seconds > 0 && seconds <= longest_s ? seconds : undefined;
}

/** The reasons for refusing a lifetime. */
export const spanReasons = (text: string | null): string[] =>
  text === null || text.trim() === '' || secondsOf(text) !== undefined ? [] : ['is not a correct duration'];

/** The reasons for refusing an end time. */
export const endReasons = (moment: string | null): string[] =>
  moment === null || Date.parse(moment) > Date.now() ? [] : ['must be in the future'];

const transitions: Record<RecordedStatus, string> = {
  running: 'run',
  success: 'succeed',
  failed: 'drop',
  canceled: 'cancel',
};

/** Why a deployment cannot make a transition; undefined if it can. A finished deployment does not run again. */
export const transitionReason = (from: DeploymentStatus, to: RecordedStatus): string | undefined =>
  from === to || (to === 'running' && from !== 'created' && from !== 'blocked')
    ? `cannot transition via "${transitions[to]}"`
    : undefined;

export const transitionTexts = Object.values(transitions).map((event) => `status: cannot transition via "${event}"`);
