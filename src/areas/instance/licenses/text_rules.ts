/** The text of a license: a compact JSON Web Signature, signed with Ed25519, whose payload is the terms (docs/reference/licenses.md). */
import type { KeyObject } from 'node:crypto';
import { type Static, Type } from 'typebox';
import { Compile } from 'typebox/compile';
import { nullable, optional } from '../../../http/index.ts';
import type { Secrets } from '../../../secrets/index.ts';
import { issuingKey } from './key_rules.ts';

/** Loaded only when a license is issued or installed, which most processes never do. */
const loadJose = () => import('jose');

/** PostgreSQL stores neither NUL nor lone surrogates. */
const isStorable = (text: string) => !text.includes('\0') && text.isWellFormed();

// PostgreSQL has no year 0.
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
  /** Whether the license is managed elsewhere, so that seats are not checked here. */
  cloud_licensing_enabled: optional(Type.Boolean()),
  restrictions: optional(
    Type.Object({
      plan: optional(Type.Enum(['starter', 'premium', 'ultimate'])),
      /** Seats; omitted or 0 means unlimited. */
      active_user_count: optional(Count),
      /** Seats of the previous license. */
      previous_user_count: optional(Count),
      trial: optional(Type.Boolean()),
      add_ons: optional(AddOns),
      /** The number of users paid for afterwards, because they exceeded the seats between these days. */
      trueup_quantity: optional(Count),
      trueup_from: optional(Day),
      trueup_to: optional(Day),
    }),
  ),
});

/** The terms of a license: plan, licensee, period and seats. */
export type Licensed = Static<typeof Licensed>;

const validator = Compile(Licensed);

function isSound(value: unknown): value is Licensed {
  if (!validator.Check(value)) return false;
  const { Name = '', Email = '', Company = '' } = value.licensee;
  const hasLicensee = `${Name}${Email}${Company}`.trim() !== '';
  return hasLicensee && (value.expires_at == null || value.expires_at > value.starts_at);
}

/**
 * Issues a license.
 * @returns the text, one line
 * @throws Error when it could not be installed: it has no licensee, or ends before it starts
 */
export async function issueLicense(secrets: Secrets, licensed: Omit<Licensed, 'v'>): Promise<string> {
  const content: Licensed = { v: 1, ...licensed };
  if (!isSound(content)) throw new Error('A license needs a licensee, and must start before it ends.');
  const { CompactSign } = await loadJose();
  return await new CompactSign(Buffer.from(JSON.stringify(content)))
    .setProtectedHeader({ alg: 'EdDSA' })
    .sign(issuingKey(secrets));
}

/** A text in stored form: with LF line endings and one at the end. */
export const normalised = (text: string): string => `${text.replaceAll('\r\n', '\n').trim()}\n`;

/**
 * Reads a license.
 * @param keys the trusted keys; one of them must have signed it
 * @returns undefined when the signature is not by any of them or does not match, or the text is not a license
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
