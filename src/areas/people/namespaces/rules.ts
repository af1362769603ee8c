/** What names and paths of groups and projects may be, and how visible one may be inside another (groups-projects-members.md section 2). */
import { tooLong } from '../../../http/index.ts';

const pathPattern = /^[a-zA-Z0-9]+([._-][a-zA-Z0-9]+)*$/;
const pathText =
  "can only include non-accented letters, digits, '_', '-' and '.'. It must not start with '-', '_', or '.', nor end with '-', '_', '.', '.git', or '.atom'.";

/** Words that addresses below the root use. */
const reservedTopLevel = new Set(
  (
    '- .well-known 404.html 422.html 500.html 502.html 503.html abuse_reports admin api apple-touch-icon-precomposed.png apple-touch-icon.png assets ' +
    'autocomplete ci dashboard deploy.html docs explore favicon.ico files groups health_check help import invites jwt koding login notification_settings ' +
    'oauth profile projects public robots.txt s search sent_notifications sitemap sitemap.xml sitemap.xml.gz slash-command-logo.png snippets u ' +
    'unicorn_test unsubscribes uploads users v2'
  ).split(' '),
);

/** Words that addresses below a project use. */
const reservedInside = new Set(
  '- badges blame blob builds commits create create_dir edit files find_file new preview raw refs tree update wikis'.split(' '),
);

const maximumLength = 255;
const minimumGroupPath = 2;
const maximumGroupDescription = 500;
const maximumProjectDescription = 2000;

/**
 * Why a path cannot be taken, empty when it can.
 * @param isTopLevel whether it stands at the root, among users and top-level groups
 */
export function pathReasons(path: string, isTopLevel: boolean): string[] {
  if (path === '') return ["can't be blank"];
  const reasons: string[] = [];
  if (!pathPattern.test(path) || /\.(git|atom)$/i.test(path)) reasons.push(pathText);
  if ((isTopLevel ? reservedTopLevel : reservedInside).has(path.toLowerCase())) reasons.push(`${path} is a reserved name`);
  return [...reasons, ...tooLong(path, maximumLength)];
}

/**
 * The same for a group, whose path has at least two characters.
 * @param isTopLevel whether the group has no parent
 */
export function groupPathReasons(path: string, isTopLevel: boolean): string[] {
  const reasons = pathReasons(path, isTopLevel);
  const isShort = path !== '' && path.length < minimumGroupPath;
  return isShort ? [...reasons, `is too short (minimum is ${minimumGroupPath} characters)`] : reasons;
}

const usernamePattern = /^[a-zA-Z0-9_.][a-zA-Z0-9_.-]*$/;
const usernameText =
  "can contain only letters, digits, '_', '-' and '.'. Cannot start with '-' or end in '.', '.git' or '.atom'.";

/** Why a user cannot have this name, which is the path of his namespace; empty when he can (users-and-tokens.md section 4.1). */
export function usernameReasons(username: string): string[] {
  if (username === '') return ["can't be blank"];
  const isFit = usernamePattern.test(username) && !/(\.|\.git|\.atom)$/i.test(username);
  const reserved = reservedTopLevel.has(username.toLowerCase()) ? [`${username} is a reserved name`] : [];
  return [...(isFit ? [] : [usernameText]), ...reserved, ...tooLong(username, maximumLength)];
}

// Emoji are pictures and what joins, colours and encloses them: joiners, variation selectors, flags, skin tones and key caps.
const emoji = '\\p{Extended_Pictographic}\\p{Regional_Indicator}\\p{Emoji_Modifier}\\u200D\\uFE0F\\u20E3';
const word = `\\p{L}\\p{M}\\p{Nd}_${emoji}`;
const groupName = new RegExp(`^[${word}][${word}().\\- ]*$`, 'u');
const groupNameText =
  "can contain only letters, digits, emoji, '_', '.', dash, space, parenthesis. It must start with letter, digit, emoji or '_'.";
const projectName = new RegExp(`^[${word}][${word}.+\\p{Pd} ]*$`, 'u');
const projectNameText =
  "can contain only letters, digits, emoji, '_', '.', '+', dashes, or spaces. It must start with a letter, digit, emoji, or '_'.";

const nameReasons = (name: string, pattern: RegExp, text: string) =>
  name.trim() === '' ? ["can't be blank"] : [...(pattern.test(name) ? [] : [text]), ...tooLong(name, maximumLength)];

/** Why a group cannot have this name, empty when it can. */
export const groupNameReasons = (name: string): string[] => nameReasons(name, groupName, groupNameText);

/** Why a project cannot have this name, empty when it can. */
export const projectNameReasons = (name: string): string[] => nameReasons(name, projectName, projectNameText);

/** Why a group cannot have this description, empty when it can. */
export const groupDescriptionReasons = (text: string): string[] => tooLong(text, maximumGroupDescription);

/** Why a project cannot have this description, empty when it can. */
export const projectDescriptionReasons = (text: string): string[] => tooLong(text, maximumProjectDescription);

export type VisibilityName = 'private' | 'internal' | 'public';
const openness: readonly VisibilityName[] = ['private', 'internal', 'public'];

/** Whether more people may see what has the visibility `one` than what has `other`. */
export const isMoreVisible = (one: VisibilityName, other: VisibilityName): boolean =>
  openness.indexOf(one) > openness.indexOf(other);

/** Whichever of two visibilities fewer people may see: a child is never more visible than its parent. */
export const lesserVisibility = (one: VisibilityName, other: VisibilityName): VisibilityName =>
  isMoreVisible(one, other) ? other : one;
