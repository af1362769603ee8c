/** The two kinds of wikis, whose pages are the same. */
export interface WikiKind {
  kind: 'project' | 'group';
  /** The name in operations. */
  noun: 'Project' | 'Group';
  /** The start of all paths. */
  path: string;
}

export const wikiKinds: readonly WikiKind[] = [
  // An address of a group would be one of a project, too.
  { kind: 'group', noun: 'Group', path: '/groups/:id/-/wikis' },
  { kind: 'project', noun: 'Project', path: '/:id/-/wikis' },
];
