/** Codes of second factors (docs/reference/second_factors.md). */
import { randomBytes } from 'node:crypto';
import { Secret, TOTP } from 'otpauth';

/** RFC 4226 recommends as many bits as the digest has. */
const secret_bytes = 20;
const period_s = 30;
/** A code counts this many steps before and after its own. */
const window_steps = 1;

/** A new secret, in base32. */
export const newSecret = (): string => new Secret({ size: secret_bytes }).base32;

/** Secrets are easier to type in groups of four. */
export const inGroups = (secret: string): string => secret.match(/.{1,4}/g)!.join(' ');

const totpOf = (secret: string, label = '', issuer = ''): TOTP =>
  new TOTP({ issuer, label, secret: Secret.fromBase32(secret), algorithm: 'SHA1', digits: 6, period: period_s });

/** The address by which authenticators take a secret. @param url the external address of the server */
export const authenticatorLink = (secret: string, username: string, url: string): string => {
  const { host } = new URL(url);
  return totpOf(secret, username, host).toString();
};

/**
 * The time step whose code was given; undefined for any other text.
 * @param now in milliseconds since 1970
 */
export function stepOfCode(secret: string, code: string, now = Date.now()): number | undefined {
  const token = code.replaceAll(/\s/g, '');
  if (!/^\d{6}$/.test(token)) return undefined;
  const delta = totpOf(secret).validate({ token, timestamp: now, window: window_steps });
  return delta === null ? undefined : Math.floor(now / 1000 / period_s) + delta;
}

/** How many recovery codes there are. */
const recoveryCodes = 10;
/** Letters and digits that cannot be mistaken for one another. */
const alphabet = 'abcdefghijkmnpqrstuvwxyz23456789';
const code_characters = 16;

/** New recovery codes of 80 bits each, which are long enough to be stored as a plain digest. */
export const newRecoveryCodes = (): string[] =>
  Array.from({ length: recoveryCodes }, () =>
    [...randomBytes(code_characters)]
      .map((byte) => alphabet[byte % 32])
      .join('')
      .replaceAll(/(.{4})(?=.)/g, '$1-'),
  );

/** A recovery code as it was shown, however it was typed; undefined for a text that cannot be one. */
export function recoveryCodeIn(text: string): string | undefined {
  const plain = text.toLowerCase().replaceAll(/[\s-]/g, '');
  return /^[a-z2-9]{16}$/.test(plain) ? plain.replaceAll(/(.{4})(?=.)/g, '$1-') : undefined;
}
