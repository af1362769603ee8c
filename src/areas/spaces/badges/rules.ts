/** The rules for badges, and the replacement of their placeholders. */
import { inAddress } from '../../../foundation/addresses.ts';
import { tooLong } from '../../../texts/index.ts';

const maximums = { url: 2048, name: 255 };

export const nameReasons = (name: string | null): string[] => tooLong(name ?? '', maximums.name);

const placeholder = /%\{(\w+)\}/g;

/** Why a badge cannot have this address, in which each placeholder may stand for any text. */
export function urlReasons(url: string): string[] {
  if (url.length > maximums.url) return tooLong(url, maximums.url);
  const example = URL.parse(url.replaceAll(placeholder, 'placeholder'));
  return example && /^https?:$/.test(example.protocol) ? [] : ['is blocked: Only allowed schemes are http, https'];
}

/** The placeholders that are filled, each with a value of a project. */
const placeholders = [
  'project_path',
  'project_title',
  'project_name',
  'project_id',
  'project_namespace',
  'group_name',
  'gitlab_server',
  'default_branch',
  'commit_sha',
  'latest_tag',
] as const;
export type Placeholder = (typeof placeholders)[number];

/** Whether an address has a placeholder. */
export const asksFor = (url: string, name: Placeholder): boolean => url.includes(`%{${name}}`);

/** An address with its placeholders filled. Placeholders without a value stay. */
export const filled = (url: string, values: Partial<Record<Placeholder, string>>): string =>
  url.replaceAll(placeholder, (whole, name: string) => {
    const value = Object.hasOwn(values, name) ? values[name as Placeholder] : undefined;
    return value === undefined ? whole : inAddress(value);
  });
