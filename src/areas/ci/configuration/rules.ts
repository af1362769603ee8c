/** Where the configuration of a project is (docs/reference/ci_configuration.md#the-file). */

const usualPath = '.gitlab-ci.yml';

/** A file of the commit that is built, or an entry of `include` for one that is elsewhere. */
export type Location =
  | { type: 'local'; path: string }
  | { type: 'elsewhere'; include: { remote: string } | { project: string; file: string; ref?: string } };

/** @param setting the attribute `ci_config_path`: a path, `path@group/project:ref`, an address, or nothing */
export function locationOf(setting: string | null): Location {
  const text = setting?.trim() ?? '';
  if (text === '') return { type: 'local', path: usualPath };
  if (/^https?:\/\//i.test(text)) return { type: 'elsewhere', include: { remote: text } };
  const at = text.indexOf('@');
  if (at < 0) return { type: 'local', path: text };
  const [project = '', ref] = text.slice(at + 1).split(/:(.*)/s);
  return { type: 'elsewhere', include: { project, file: text.slice(0, at), ...(ref ? { ref } : {}) } };
}
