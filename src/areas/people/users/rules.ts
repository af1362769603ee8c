/** What the texts of an account may be (users-and-tokens.md section 4). */
import { tooLong } from '../../../http/index.ts';

const blankText = "can't be blank";

/** A rule for texts of at most `limit` characters. */
export const atMost = (limit: number) => (text: string) => tooLong(text, limit);

/** Why a person cannot have this name, empty when he can. */
export const personNameReasons = (name: string): string[] => (name.trim() === '' ? [blankText] : tooLong(name, 255));

/** Why this is no address of a page; a link that runs a script must not be among them. */
export function pageReasons(text: string): string[] {
  if (text === '') return [];
  const isPage = /^https?:\/\//i.test(text) && URL.canParse(text);
  return [...(isPage ? [] : ['is not a valid URL']), ...tooLong(text, 500)];
}

const minimumPassword = 8;
const maximumPassword = 128;
const weakText = 'must not contain commonly used combinations of words and letters';

/** The most used passwords of eight characters and more in published leaks. */
const commonPasswords = new Set(
  (
    '123456789 12345678 password qwerty123 1234567890 1q2w3e4r5t qwertyuiop 1234567891 password1 password123 iloveyou 11111111 00000000 88888888 ' +
    '87654321 987654321 1q2w3e4r qwer1234 abcd1234 1qaz2wsx asdfghjkl zxcvbnm123 sunshine princess football baseball superman trustno1 whatever ' +
    'starwars computer michelle jennifer passw0rd p@ssw0rd p@ssword letmein1 welcome1 admin123 administrator changeme changeme123 default1 secret123 ' +
    'qwerty12 asdf1234 aa123456 abc12345 a1b2c3d4 qazwsxedc 123123123 1234qwer 147258369 99999999 55555555 dragon123 monkey123 master123'
  ).split(' '),
);

/** Why nobody can have this password, empty when it will do. */
export function passwordReasons(password: string): string[] {
  if (password === '') return [blankText];
  if ([...password].length < minimumPassword) return [`is too short (minimum is ${minimumPassword} characters)`];
  return [...tooLong(password, maximumPassword), ...(commonPasswords.has(password.toLowerCase()) ? [weakText] : [])];
}

/** Why this account cannot have this password: whoever knows its names would try them first. */
export function ownPasswordReasons(password: string, account: { username: string; name: string; email: string }): string[] {
  const { username, name, email } = account;
  const known = [username, name, email, email.split('@', 1)[0]!].map((text) => text.toLowerCase());
  return known.includes(password.toLowerCase()) ? [weakText] : [];
}

/** Why a count cannot be this, empty when it can. The column holds four bytes. */
export function countReasons(count: number): string[] {
  if (count < 0) return ['must be greater than or equal to 0'];
  return count > 2 ** 31 - 1 ? [`must be less than or equal to ${2 ** 31 - 1}`] : [];
}

/** Why this cannot be the name of an emoji, empty when it can. */
export const emojiReasons = (name: string): string[] =>
  name === '' || /^[\w+-]{1,64}$/.test(name) ? [] : ['is not a valid emoji name'];

interface Powers {
  password?: string;
  admin?: boolean;
  can_create_group?: boolean;
}

/**
 * Why a service account cannot be given what is asked for: reasons by field, empty when it can.
 * @param ofGroup whether it belongs to a group, whose owners could make themselves tokens of an administrator
 */
export function serviceAccountReasons({ password, admin, can_create_group }: Powers, ofGroup: boolean): Record<string, string[]> {
  const reasons = ['cannot be given to a service account'];
  return {
    ...(password === undefined ? {} : { password: reasons }),
    ...(can_create_group ? { can_create_group: reasons } : {}),
    ...(admin && ofGroup ? { admin: [`${reasons[0]} of a group`] } : {}),
  };
}
