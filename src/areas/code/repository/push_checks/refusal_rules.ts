/** The documented refusals of endpoints that change a repository. Every test compares actual refusals with them. */
import { pushRuleTexts } from '../../push_rules/rules.ts';
import { policyTexts } from '../../security_policies/rules.ts';

/** A namespace has reached its size limit. */
export const fullText = (limit_mib: number | string): string =>
  `The repositories of the namespace hold more than the limit of ${limit_mib} MiB.`;

/** Any change to a branch: violations of its protection, and changes that no one may make. */
export const branchTexts = [
  fullText('<number>'),
  'The default branch of a project cannot be deleted.',
  'You cannot create a branch with a 40-character hexadecimal branch name.',
  'You are not allowed to create protected branches on this project.',
  'You can only use an existing protected branch ref as the basis of a new protected branch.',
  'You are not allowed to push code to protected branches on this project.',
  'You are not allowed to force push code to a protected branch on this project.',
  'You are not allowed to delete protected branches from this project. Only a project maintainer or owner can delete a protected branch.',
  'This project is frozen <until when>. You cannot change its protected branches during a freeze.',
  "The path '<path>' is locked in Git LFS by <name>",
  ...pushRuleTexts,
  ...policyTexts,
];

/** Any commit created through the API. */
export const commitTexts = [
  ...branchTexts,
  "A branch called '<name>' already exists. Switch to that branch in order to make changes",
  'You can only create or edit files when you are on a branch',
  "Something went wrong when we tried to create '<name>' for you: <reason>",
  'Your changes could not be committed, because the file has been changed, or there was nothing to commit',
  'Could not update <ref>. Please refresh and try again.',
];

/** A commit that changes files by path. */
export const fileTexts = [
  ...commitTexts,
  'You must provide a file path',
  'Path cannot include directory traversal',
  "invalid path: '<path>'",
  'A file with this name already exists',
  "A file with this name doesn't exist",
  'A directory with this name already exists',
];

/** A blob that is too large for a JSON reply, or too many large ones. */
export const tooLargeText = 'The requested blob is over the threshold size of <bytes>.<how to get it>';

/** A branch or tag that has moved meanwhile. */
export const movedText = 'Could not update <ref>. Please refresh and try again.';
