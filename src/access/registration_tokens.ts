/** Registration tokens of runners: they follow from their place and the secret key, and are not stored (docs/reference/runners.md#registration-tokens). */
import type { Services } from '../services/index.ts';

/** Where runners that register with a token belong. */
export interface RegistrationPlace {
  kind: 'instance' | 'group' | 'project';
  /** Of the group or project; 0 for the instance. */
  id: number;
  /** How often the token of the place was replaced. */
  version: number;
}

const prefix = 'GR1348941';
const purpose = 'runner registration';
const kinds = ['instance', 'group', 'project'] as const;

const hex = (number: number, digits: number) => number.toString(16).padStart(digits, '0');

/** The registration token of a place: the same until it is replaced. */
export function registrationToken({ secrets }: Pick<Services, 'secrets'>, place: RegistrationPlace): string {
  const { kind, id, version } = place;
  return prefix + secrets.linkToken(purpose, `${hex(kinds.indexOf(kind), 8)}${hex(version, 8)}${hex(id, 16)}`);
}

/** The place whose registration token this is, or was before it was replaced; undefined for any other text. */
export function placeOfRegistration(
  { secrets }: Pick<Services, 'secrets'>,
  token: string,
): RegistrationPlace | undefined {
  if (!token.startsWith(prefix)) return undefined;
  const seed = secrets.seedOfLink(purpose, token.slice(prefix.length))?.replaceAll('-', '');
  if (seed === undefined) return undefined;
  const number = (from: number, to: number) => Number.parseInt(seed.slice(from, to), 16);
  return { kind: kinds[number(0, 8)]!, version: number(8, 16), id: number(16, 32) };
}
