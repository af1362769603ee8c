/** What the protocols have in common. */

/** What a provider has stated of a person, after everything about the statement was verified. */
export interface Stated {
  /** Identifies the person at the provider for ever. */
  uid: string;
  username: string | undefined;
  email: string | undefined;
  /** Whether the provider has verified the address. */
  has_verified_email: boolean;
  name: string | undefined;
  /** The groups of the person; undefined if the provider has said nothing of groups. */
  groups: readonly string[] | undefined;
  /** How the person has signed in there. */
  methods: readonly string[];
}

/** A sign-in that a provider has not confirmed. */
export class ProviderError extends Error {
  override name = 'ProviderError';
  /** For the log, without anything that the provider or the browser has sent. */
  readonly reason: string;
  /** Whether the provider cannot be reached, which is nobody's attack. */
  readonly is_down: boolean;

  constructor(reason: string, is_down = false) {
    super(reason);
    this.reason = reason;
    this.is_down = is_down;
  }
}

/** Where this server is, and which addresses it may ask besides those in the file. */
export interface Surroundings {
  /** The external address, without a trailing slash. */
  url: string;
  /** Whether what a provider names may be in the local network. */
  may_be_local: boolean;
}

/** The address at which a provider ends a sign-in. */
export const callbackUrl = (url: string, provider: string): string => `${url}/users/auth/${provider}/callback`;

const longest = 1000;

/** A text that can be stored; anything else counts as not stated. */
export const storable = (value: unknown): string | undefined =>
  typeof value === 'string' &&
  value.trim() !== '' &&
  value.length <= longest &&
  value.isWellFormed() &&
  !value.includes('\0')
    ? value
    : undefined;

/** The maximum number of groups of a person that are looked at. */
const mostGroups = 10_000;

/** A list of texts, or one text; undefined if nothing was stated. */
export function textsIn(value: unknown): string[] | undefined {
  if (value === undefined || value === null) return undefined;
  return [value]
    .flat()
    .slice(0, mostGroups)
    .map(storable)
    .filter((text) => text !== undefined);
}
