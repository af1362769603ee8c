/** The two kinds of wikis, which have the same pages. */
export interface WikiKind {
  kind: 'project' | 'group';
  /** The noun in operation names. */
  noun: 'Project' | 'Group';
  /** The common prefix of all paths. */
  path: string;
}

export const wikiKinds: readonly WikiKind[] = [
  // An address of a group's wiki also matches the pattern of a project's.
  { kind: 'group', noun: 'Group', path: '/groups/:id/-/wikis' },
  { kind: 'project', noun: 'Project', path: '/:id/-/wikis' },
];
