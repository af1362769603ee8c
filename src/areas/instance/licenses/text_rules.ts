/** The text of a licence: a JSON Web Signature in its compact form, signed with Ed25519, over what is licensed (docs/reference/licenses.md). */
import type { KeyObject } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { nullable, optional } from '../../../http/index.ts';
import type { Secrets } from '../../../secrets/index.ts';
import { issuingKey } from './key_rules.ts';

/** Loaded when a licence is issued or installed, which most processes never see. */
const loadJose = () => import('jose');

/** PostgreSQL stores neither NUL nor halves of characters. */
const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

// PostgreSQL knows no year 0.
const Day = Type.String({ format: 'date', pattern: '^(?!0000)' });
const Count = Type.Integer({ minimum: 0, maximum: 2 ** 31 - 1 });
const Text = Type.Refine(Type.String(), isStorable);
const AddOns = Type.Refine(Type.Record(Type.String(), Count), (counts) => Object.keys(counts).every(isStorable));

const Licensed = Type.Object({
  v: Type.Literal(1),
  licensee: Type.Object({ Name: optional(Text), Email: optional(Text), Company: optional(Text) }),
  starts_at: Day,
  expires_at: optional(nullable(Day)),
  notify_admins_at: optional(nullable(Day)),
  block_changes_at: optional(nullable(Day)),
  /** Managed elsewhere, so that seats are not checked here. */
  cloud_licensing_enabled: optional(Type.Boolean()),
  restrictions: optional(
    Type.Object({
      plan: optional(Type.Enum(['starter', 'premium', 'ultimate'])),
      /** Seats; left out or 0, any number. */
      active_user_count: optional(Count),
      /** Seats of the licence before. */
      previous_user_count: optional(Count),
      trial: optional(Type.Boolean()),
      add_ons: optional(AddOns),
      /** Users that were paid for afterwards, because between these days there were more than seats. */
      trueup_quantity: optional(Count),
      trueup_from: optional(Day),
      trueup_to: optional(Day),
    }),
  ),
});

/** What a licence says: which plan, for whom, from when to when, and for how many. */
export type Licensed = Static<typeof Licensed>;

const validator = Compile(Licensed);

function isSound(value: unknown): value is Licensed {
  if (!validator.Check(value)) return false;
  const { Name = '', Email = '', Company = '' } = value.licensee;
  const isForSomebody = `${Name}${Email}${Company}`.trim() !== '';
  return isForSomebody && (value.expires_at == null || value.expires_at > value.starts_at);
}

/**
 * Issues a licence.
 * @returns the text, one line
 * @throws Error when nobody could install it: it is for nobody, or ends before it starts
 */
export async function issueLicense(secrets: Secrets, licensed: Omit<Licensed, 'v'>): Promise<string> {
  const content: Licensed = { v: 1, ...licensed };
  if (!isSound(content)) throw new Error('A licence needs a licensee, and must start before it ends.');
  const { CompactSign } = await loadJose();
  return await new CompactSign(Buffer.from(JSON.stringify(content)))
    .setProtectedHeader({ alg: 'EdDSA' })
    .sign(issuingKey(secrets));
}

/** As it is kept: with plain line breaks, of which one is at the end. */
export const normalised = (text: string): string => `${text.replaceAll('\r\n', '\n').trim()}\n`;

/**
 * Reads a licence.
 * @param keys of which one must have signed it
 * @returns undefined for what none of them has signed, or has changed since, or is no licence
 */
export async function readLicense(text: string, keys: readonly KeyObject[]): Promise<Licensed | undefined> {
  for (const key of keys) {
    const content = await signedContent(text.trim(), key);
    if (content === undefined) continue;
    return isSound(content) ? content : undefined;
  }
  return undefined;
}

async function signedContent(text: string, key: KeyObject): Promise<unknown> {
  const { compactVerify, errors } = await loadJose();
  try {
    const { payload } = await compactVerify(text, key, { algorithms: ['EdDSA'] });
    return JSON.parse(Buffer.from(payload).toString('utf8'));
  } catch (error) {
    if (error instanceof errors.JOSEError || error instanceof SyntaxError) return undefined;
    throw error;
  }
}
