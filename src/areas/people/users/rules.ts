/** Rules of names, passwords and profile texts (docs/reference/users.md#parameters). */
import { tooLong } from '../../../texts/index.ts';

const blankText = "can't be blank";

/** A rule for texts of at most `limit` characters. */
export const atMost = (limit: number) => (text: string) => tooLong(text, limit);

/** Reasons against the name of a person, empty if it is valid. */
export const personNameReasons = (name: string): string[] => (name.trim() === '' ? [blankText] : tooLong(name, 255));

/** Reasons against the URL of a page. Links that run a script must not pass. */
export function pageReasons(text: string): string[] {
  if (text === '') return [];
  const isPage = /^https?:\/\//i.test(text) && URL.canParse(text);
  return [...(isPage ? [] : ['is not a valid URL']), ...tooLong(text, 500)];
}

const minimumPassword = 8;
const maximumPassword = 128;
const weakText = 'must not contain commonly used combinations of words and letters';

/** The most common passwords of at least eight characters in published leaks. */
const commonPasswords = new Set(
  (
    '123456789 12345678 password qwerty123 1234567890 1q2w3e4r5t qwertyuiop 1234567891 password1 password123 iloveyou 11111111 00000000 88888888 ' +
    '87654321 987654321 1q2w3e4r qwer1234 abcd1234 1qaz2wsx asdfghjkl zxcvbnm123 sunshine princess football baseball superman trustno1 whatever ' +
    'starwars computer michelle jennifer passw0rd p@ssw0rd p@ssword letmein1 welcome1 admin123 administrator changeme changeme123 default1 secret123 ' +
    'qwerty12 asdf1234 aa123456 abc12345 a1b2c3d4 qazwsxedc 123123123 1234qwer 147258369 99999999 55555555 dragon123 monkey123 master123'
  ).split(' '),
);

/** Reasons against a password, empty if it is acceptable. */
export function passwordReasons(password: string): string[] {
  if (password === '') return [blankText];
  if ([...password].length < minimumPassword) return [`is too short (minimum is ${minimumPassword} characters)`];
  return [...tooLong(password, maximumPassword), ...(commonPasswords.has(password.toLowerCase()) ? [weakText] : [])];
}

/** Reasons against a password for an account: its names and address are the first guesses. */
export function ownPasswordReasons(
  password: string,
  account: { username: string; name: string; email: string },
): string[] {
  const { username, name, email } = account;
  const known = [username, name, email, email.split('@', 1)[0]!].map((text) => text.toLowerCase());
  return known.includes(password.toLowerCase()) ? [weakText] : [];
}

/** Reasons against a count. The column has four bytes. */
export function countReasons(count: number): string[] {
  if (count < 0) return ['must be greater than or equal to 0'];
  return count > 2 ** 31 - 1 ? [`must be less than or equal to ${2 ** 31 - 1}`] : [];
}

/** Reasons against the name of an emoji. */
export const emojiReasons = (name: string): string[] =>
  name === '' || /^[\w+-]{1,64}$/.test(name) ? [] : ['is not a valid emoji name'];

interface Powers {
  password?: string;
  admin?: boolean;
  can_create_group?: boolean;
}

/**
 * Reasons against changes of a service account, by parameter.
 * @param ofGroup whether it belongs to a group, whose owners could create tokens of an administrator otherwise
 */
export function serviceAccountReasons(
  { password, admin, can_create_group }: Powers,
  ofGroup: boolean,
): Record<string, string[]> {
  const reasons = ['cannot be given to a service account'];
  return {
    ...(password === undefined ? {} : { password: reasons }),
    ...(can_create_group ? { can_create_group: reasons } : {}),
    ...(admin && ofGroup ? { admin: [`${reasons[0]} of a group`] } : {}),
  };
}
