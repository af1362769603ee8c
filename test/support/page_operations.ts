/** Which operations no page offers, and why. It is a part of docs/access.txt. */
import { readdir, readFile } from 'node:fs/promises';
import path from 'node:path';
import { endpoints } from '../../src/areas/index.ts';

const web = path.resolve(import.meta.dirname, '../../src/areas/web');

/** A name in the sources of pages, whole or with holes for nouns: `create${noun}Hook`. */
const quoted = /(['"`])([a-z][A-Za-z]*(?:\$\{[^}\n]*\}[A-Za-z]*)*)\1/g;
const hole = /\$\{[^}]*\}/g;

/** The operations that the sources of pages name. */
async function offered(): Promise<(operation: string) => boolean> {
  const files = (await readdir(web, { recursive: true })).filter((file) => /(?<!\.test)\.ts$/.test(file));
  const sources = await Promise.all(files.map((file) => readFile(path.join(web, file), 'utf8')));
  const names = new Set(sources.flatMap((source) => [...source.matchAll(quoted)].map(([, , name]) => name!)));
  const whole = new Set([...names].filter((name) => !name.includes('$')));
  const patterns = [...names].flatMap((name) =>
    name.includes('$') ? [new RegExp(`^${name.replaceAll(hole, '[A-Za-z]*')}$`)] : [],
  );
  return (operation) => whole.has(operation) || patterns.some((pattern) => pattern.test(operation));
}

/** Why no page offers an operation; the first that matches counts. */
const reasons: readonly (readonly [reason: string, of: RegExp])[] = [
  ['the same operation has another path, which pages use', /Alias$/],
  [
    'for clients that use older names of what pages offer',
    /ByName$|GeoNode|AtPage$|^(protect|unprotect)Branch$|^updateProjectApprovals$/,
  ],
  ['for programs that keep facts of their own with users, groups and projects', /CustomAttribute/],
  [
    'pages show the same by another operation',
    /^list(Issue|Epic|MergeRequest|Snippet|Commit)(Note|Discussion|DiscussionNote)s$/,
  ],
  ['pages show the same by another operation', /^(update|delete)(Issue|Epic|MergeRequest|Snippet)Note$|^reorderIssue$/],
  [
    'pages show the same by another operation',
    /^list(Issue|Epic|MergeRequest)Participants$|Reactions?$|^list\w+AwardEmoji$|^count|CommitComments?$|^applySuggestion$/,
  ],
  [
    'pages show the same by another operation',
    /^(listIssues|listMergeRequests|listGroupMergeRequests|listDescendantGroups|listNamespaces|list(Group|Project)Members|listProjectsSharedWithGroup|listGroupsSharedWithGroup|listMergeRequestReviewers|listUserProjectDeployKeys|updateOwnStatus|transferProjectToGroup)$/,
  ],
  [
    'for editors and other clients, which ask while someone types',
    /^(checkNamespacePath|check\w+|render\w+|list\w+Templates)$/,
  ],
  [
    'what pipelines and other programs report',
    /^(setCommitStatus|(create|update|delete)Deployment|createProjectChangelog|createChangelog|updateSubmodule)$/,
  ],
  [
    'for programs that look after many runners',
    /^(listOwnRunners|getRunner|listRunnerManagers|listRunnerJobs|(un)?assignRunner)$/,
  ],
  ['for servers that migrate to each other', /RelationExport|^list(Entities|BulkImportEntityFailures)/],
  [
    'for programs that act with a token of their own',
    /^(revokeOwnToken|rotateOwnToken|listOwnTokenAssociations|findKey|resetMergeRequestApprovals)$/,
  ],
  [
    'always refused, or always empty: pipelines run elsewhere, and are only shown here',
    /^(eraseJob|listPipelineBridges)$/,
  ],
  ['users add their keys themselves', /^(create|list|revoke|delete)User(Gpg)?Keys?$/],
  [
    'text fields and pages of files do it by themselves',
    /Upload|Attachment$|^(create|update|delete)File$|^downloadArchive$/,
  ],
  [
    'for the command line of administrators',
    /^(buildCodeIndex|listExperiments|deleteUserIdentity|(list|schedule)StorageMoves?Of\w+|listUserActivities)$/,
  ],
];
const none = 'no page yet';

/** The operations without a page by their reasons, in the order of the table. */
export async function unofferedTable(): Promise<string> {
  const isOffered = await offered();
  const missing = endpoints.map(({ operation }) => operation).filter((operation) => !isOffered(operation));
  const grouped = Map.groupBy(missing, (operation) => reasons.find(([, of]) => of.test(operation))?.[0] ?? none);
  const order = [...new Set([...reasons.map(([reason]) => reason), none])];
  const lines = order.flatMap((reason) => {
    const operations = grouped.get(reason);
    return operations ? [`${reason}:`, ...wrapped(operations), ''] : [];
  });
  return ['Operations that no page offers', '', ...lines].join('\n');
}

const lineLength = 150;

/** Words in lines. */
function wrapped(words: readonly string[]): string[] {
  const lines: string[] = [];
  for (const word of words) {
    const last = lines.at(-1);
    if (last !== undefined && last.length + word.length < lineLength) lines[lines.length - 1] = `${last} ${word}`;
    else lines.push(`  ${word}`);
  }
  return lines;
}
