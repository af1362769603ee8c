/** Validation of settings, and the meaning of some of them. Pure functions. */
import type { VisibilityName } from '../../../access/index.ts';
import { durationOf } from '../../../ci_configuration/index.ts';

const maximumPrefix = 20;

/** Why access tokens cannot have this prefix, empty if they can: prefixes appear in headers and URLs. */
export function prefixReasons(prefix: string): string[] {
  if (prefix.length > maximumPrefix) return [`is too long (maximum is ${maximumPrefix} characters)`];
  return /^[a-zA-Z0-9_+=/@:.-]*$/.test(prefix)
    ? []
    : ['can contain only letters of the Base64 alphabet (RFC4648) and the characters _, @, :, . and -'];
}

/** Why a text does not say how long something is kept, empty if it does. */
export const durationReasons = (text: string): string[] =>
  durationOf(text) === undefined ? ['is not a correct duration'] : [];

const day_s = 24 * 60 * 60;

/** Why a text is no age from which pipelines do not run again, empty if it is. */
export function ageReasons(text: string | null): string[] {
  if (text === null) return [];
  const reasons = durationReasons(text);
  return reasons.length === 0 && durationOf(text)! < day_s ? ['must be at least 1 day'] : reasons;
}

type Weights = Readonly<Record<string, number>>;

/** Why storages cannot have these shares, empty if they can. */
export function weightReasons(weights: Weights, storages: readonly string[]): string[] {
  const unknown = Object.keys(weights).filter((name) => !storages.includes(name));
  return unknown.length > 0 ? [`can't include: ${unknown.join(', ')}`] : [];
}

/**
 * The weights of the existing storages. If there is no weight at all, everything goes to the first storage.
 * @param kept the stored setting, which may contain storages that the operator has removed since
 */
export function weightsOf(kept: Weights, storages: readonly string[]): Record<string, number> {
  const known = Object.entries(kept).filter(([name]) => storages.includes(name));
  return known.some(([, weight]) => weight > 0) ? Object.fromEntries(known) : { [storages[0]!]: 100 };
}

/**
 * The storage for a new repository.
 * @param chance from 0, inclusive, to 1
 */
export function storageByWeight(weights: Weights, chance: number): string {
  const entries = Object.entries(weights).filter(([, weight]) => weight > 0);
  let left = chance * entries.reduce((sum, [, weight]) => sum + weight, 0);
  for (const [name, weight] of entries) {
    if (left < weight) return name;
    left -= weight;
  }
  return entries.at(-1)![0];
}

const levels: readonly VisibilityName[] = ['private', 'internal', 'public'];

/** The most open visibility that is allowed and not more open than `wanted`; private if there is none. */
export const allowedVisibility = (wanted: VisibilityName, restricted: readonly string[]): VisibilityName =>
  levels.slice(0, levels.indexOf(wanted) + 1).findLast((level) => !restricted.includes(level)) ?? 'private';

/** Why the texts are not all origins of servers, such as `https://git.example.com:8443`; empty if they are. */
export function originReasons(origins: readonly string[]): string[] {
  const wrong = origins.filter(
    (text) => !/^https?:/.test(text) || !URL.canParse(text) || new URL(text).origin !== text,
  );
  return wrong.length > 0 ? [`can't include: ${wrong.join(', ')}`] : [];
}
