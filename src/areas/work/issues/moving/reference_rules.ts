/** Rewriting references when a text moves to another project. */
import { type ReferenceKind, referencesIn } from '../../../../markdown/index.ts';

/** Items of a project, whose short references mean something else in another project. */
const ofProject: ReadonlySet<ReferenceKind> = new Set([
  'issue',
  'merge_request',
  'label',
  'milestone',
  'snippet',
  'commit',
]);

/**
 * Makes the references of a text independent of its project: `#1` becomes `group/project#1`.
 * @param source the original project of the text
 */
export async function withFullReferences(text: string, source: { full_path: string }): Promise<string> {
  const namespace = source.full_path.slice(0, source.full_path.lastIndexOf('/'));
  let [result, at] = ['', 0];
  for (const { kind, path, start, end } of await referencesIn(text)) {
    if (!ofProject.has(kind) || path?.includes('/')) continue;
    const short = text.slice(start, end);
    const full =
      path === undefined ? `${source.full_path}${kind === 'commit' ? '@' : ''}${short}` : `${namespace}/${short}`;
    result += text.slice(at, start) + full;
    at = end;
  }
  return result + text.slice(at);
}
