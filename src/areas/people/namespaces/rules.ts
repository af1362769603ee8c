/** Rules of names and paths of users, groups and projects (docs/reference/namespaces.md#names-and-paths). */
import { tooLong } from '../../../texts/index.ts';

const pathPattern = /^[a-zA-Z0-9]+([._-][a-zA-Z0-9]+)*$/;
const pathText =
  "can only include non-accented letters, digits, '_', '-' and '.'. It must not start with '-', '_', or '.', nor end with '-', '_', '.', '.git', or '.atom'.";

/** Words used in URLs below the root. */
const reservedTopLevel = new Set(
  (
    '- .well-known 404.html 422.html 500.html 502.html 503.html abuse_reports admin api apple-touch-icon-precomposed.png apple-touch-icon.png assets ' +
    'autocomplete ci dashboard deploy.html docs explore favicon.ico files groups health_check help import invites jwt koding login notification_settings ' +
    'oauth profile projects public robots.txt s search sent_notifications sitemap sitemap.xml sitemap.xml.gz slash-command-logo.png snippets u ' +
    'unicorn_test unsubscribes uploads users v2'
  ).split(' '),
);

/** Words used in URLs below a project. */
const reservedInside = new Set(
  '- badges blame blob builds commits create create_dir edit files find_file new preview raw refs tree update wikis'.split(
    ' ',
  ),
);

/**
 * Names and paths of groups and projects marked for deletion end like this. No others may, because they could conflict.
 */
const isOfDeletion = (name: string) => /-deletion_scheduled-\d+$/i.test(name);

const reserved = (name: string) => `${name} is a reserved name`;

const maximumLength = 255;
const minimumGroupPath = 2;
const maximumGroupDescription = 500;
const maximumProjectDescription = 2000;

/**
 * Reasons against a path, empty if it is valid.
 * @param isTopLevel whether it is at the top level, among users and top-level groups
 */
export function pathReasons(path: string, isTopLevel: boolean): string[] {
  if (path === '') return ["can't be blank"];
  const reasons: string[] = [];
  if (!pathPattern.test(path) || /\.(git|atom)$/i.test(path)) reasons.push(pathText);
  if ((isTopLevel ? reservedTopLevel : reservedInside).has(path.toLowerCase()) || isOfDeletion(path))
    reasons.push(reserved(path));
  return [...reasons, ...tooLong(path, maximumLength)];
}

/**
 * Reasons against the path of a group, which has at least two characters.
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

/** Reasons against a username, which is also the path of the user's namespace. */
export function usernameReasons(username: string): string[] {
  if (username === '') return ["can't be blank"];
  const isFit = usernamePattern.test(username) && !/(\.|\.git|\.atom)$/i.test(username);
  const isReserved = reservedTopLevel.has(username.toLowerCase()) || isOfDeletion(username);
  return [
    ...(isFit ? [] : [usernameText]),
    ...(isReserved ? [reserved(username)] : []),
    ...tooLong(username, maximumLength),
  ];
}

// Emoji are pictographs with joiners, variation selectors, flags, skin tones and key caps.
const emoji = '\\p{Extended_Pictographic}\\p{Regional_Indicator}\\p{Emoji_Modifier}\\u200D\\uFE0F\\u20E3';
const word = `\\p{L}\\p{M}\\p{Nd}_${emoji}`;
const groupName = new RegExp(`^[${word}][${word}().\\- ]*$`, 'u');
const groupNameText =
  "can contain only letters, digits, emoji, '_', '.', dash, space, parenthesis. It must start with letter, digit, emoji or '_'.";
const projectName = new RegExp(`^[${word}][${word}.+\\p{Pd} ]*$`, 'u');
const projectNameText =
  "can contain only letters, digits, emoji, '_', '.', '+', dashes, or spaces. It must start with a letter, digit, emoji, or '_'.";

const nameReasons = (name: string, pattern: RegExp, text: string) =>
  name.trim() === ''
    ? ["can't be blank"]
    : [
        ...(pattern.test(name) ? [] : [text]),
        ...(isOfDeletion(name) ? [reserved(name)] : []),
        ...tooLong(name, maximumLength),
      ];

/** Reasons against the name of a group. */
export const groupNameReasons = (name: string): string[] => nameReasons(name, groupName, groupNameText);

/** Reasons against the name of a project. */
export const projectNameReasons = (name: string): string[] => nameReasons(name, projectName, projectNameText);

/** Reasons against the description of a group. */
export const groupDescriptionReasons = (text: string): string[] => tooLong(text, maximumGroupDescription);

/** Reasons against the description of a project. */
export const projectDescriptionReasons = (text: string): string[] => tooLong(text, maximumProjectDescription);
