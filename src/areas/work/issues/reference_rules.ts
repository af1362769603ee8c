/** What becomes of names when a text moves to another project. */
import { type ReferenceKind, referencesIn } from '../../../markdown/index.ts';

/** What belongs to a project, so that its name says something else in another one. */
const ofProject: ReadonlySet<ReferenceKind> = new Set(['issue', 'merge_request', 'label', 'milestone', 'snippet', 'commit']);

/**
 * A text whose names mean the same in any project as they meant in theirs: `#1` becomes `group/project#1`.
 * @param source the project that the text comes from
 */
export function withFullReferences(text: string, source: { full_path: string }): string {
  const namespace = source.full_path.slice(0, source.full_path.lastIndexOf('/'));
  let [result, at] = ['', 0];
  for (const { kind, path, start, end } of referencesIn(text)) {
    if (!ofProject.has(kind) || path?.includes('/')) continue;
    const short = text.slice(start, end);
    const full = path === undefined ? `${source.full_path}${kind === 'commit' ? '@' : ''}${short}` : `${namespace}/${short}`;
    result += text.slice(at, start) + full;
    at = end;
  }
  return result + text.slice(at);
}
