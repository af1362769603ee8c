/** The shapes of `artifacts` and `cache`: files that are kept. */
import type { Artifacts, Cache, Report } from '../types.ts';
import { isList, type Value } from '../values.ts';
import {
  attribute,
  boolean,
  duration,
  entry,
  mapped,
  mappingOr,
  oneOf,
  type Place,
  record,
  requiring,
  type Shape,
  text,
  textOfAtMost,
  textOrTexts,
  texts,
} from './shape.ts';

const uploadWhen = oneOf(['on_success', 'on_failure', 'always']);

const plainReports = [
  'junit',
  'dotenv',
  'cyclonedx',
  'dependency_scanning',
  'sast',
  'secret_detection',
  'container_scanning',
  'dast',
  'codequality',
  'terraform',
  'metrics',
  'annotations',
] as const;

const formats = ['cobertura', 'jacoco'] as const;
const coverageReport = record(
  {
    coverage_format: attribute(oneOf(formats, `must be one of supported formats: ${formats.join(', ')}`)),
    path: attribute(text),
  },
  ['coverage_format', 'path'],
);

const plainReport = attribute(textOrTexts);
const reports: Shape<readonly Report[]> = mapped(
  record({
    ...(Object.fromEntries(plainReports.map((type) => [type, plainReport])) as Record<
      (typeof plainReports)[number],
      typeof plainReport
    >),
    coverage_report: entry(coverageReport),
  }),
  ({ coverage_report, ...others }) => {
    const read = plainReports.flatMap((type): Report[] => (others[type] ? [{ type, paths: others[type] }] : []));
    if (coverage_report?.path === undefined) return read;
    const { coverage_format, path } = coverage_report;
    return [...read, { type: 'coverage_report', paths: [path], coverage_format }];
  },
);

const exposeAs: Shape<string> = mapped(textOfAtMost(100), (name, at) =>
  /^\w[-\w ]*$/.test(name) ? name : at.fault("can contain only letters, digits, '-', '_' and spaces"),
);

const expireIn: Shape<string> = (value, at) => (value === 'never' ? 'never' : duration(value, at));

const artifactMembers = {
  paths: attribute(texts),
  exclude: attribute(texts),
  untracked: attribute(boolean),
  name: attribute(text),
  when: attribute(uploadWhen),
  expire_in: attribute(expireIn),
  expose_as: attribute(exposeAs),
  public: attribute(boolean),
  access: attribute(oneOf(['all', 'developer', 'none'])),
  reports: entry(reports),
};

export const artifacts: Shape<Artifacts> = mapped(record(artifactMembers), (read, at) => {
  const { paths = [], exclude = [], untracked = false, when = 'on_success', public: isPublic, reports = [] } = read;
  const { name, expire_in, expose_as, access } = read;
  if (access && isPublic !== undefined) at.fault('these keys cannot be used together: public, access');
  if (expose_as !== undefined) checkExposed(paths, at.attribute('paths'));
  return {
    paths,
    exclude,
    untracked,
    when,
    access: access ?? (isPublic === false ? 'developer' : 'all'),
    name,
    expire_in,
    expose_as,
    reports,
  };
});

/** What is exposed has to be one thing that people find by its name. */
function checkExposed(paths: readonly string[], at: Place): void {
  if (paths.length === 0) at.fault("can't be blank");
  if (paths.some((path) => path.includes('*'))) at.fault("can't contain '*' when used with 'expose_as'");
}

const maximumCaches = 4;
const maximumKeyFiles = 2;
const maximumFallbackKeys = 5;
const defaultKey = 'default';

const plainKey: Shape<string> = (value, at) => {
  if (typeof value !== 'string') return at.bare.fault('should be a hash, a string or a symbol');
  if (/\/|%2f/i.test(value)) return at.fault('cannot contain the "/" character');
  return /^(?:\.|%2e){1,2}$/i.test(value) ? at.fault('cannot be "." or ".."') : value;
};

const keyFiles: Shape<readonly string[]> = mapped(texts, (files, at) => {
  if (files.length === 0) return at.fault('requires at least 1 item');
  return files.length > maximumKeyFiles ? at.fault(`has too many items (maximum is ${maximumKeyFiles})`) : files;
});

const contentKey = mapped(
  requiring(['files'], record({ files: entry(keyFiles), prefix: attribute(text) })),
  ({ files, prefix }) => files && { files, prefix },
);
const key: Shape<Cache['key']> = mappingOr(contentKey, plainKey);

const isVariable = (value: Value) => typeof value === 'string' && /^\$\{?[A-Za-z_]\w*\}?$/.test(value);
const policy: Shape<string> = (value, at) =>
  isVariable(value)
    ? (value as string)
    : oneOf(['pull-push', 'push', 'pull'], 'should be a variable or one of: pull-push, push, pull')(value, at);

const fallbackKeys: Shape<readonly string[]> = mapped(texts, (keys, at) => {
  if (keys.length > maximumFallbackKeys) return at.fault(`has too many entries (maximum ${maximumFallbackKeys})`);
  const good = keys.map((each) => plainKey(each, at));
  return good.every((each) => each !== undefined) ? keys : undefined;
});

const cacheMembers = {
  key: entry(key),
  paths: attribute(texts),
  untracked: attribute(boolean),
  policy: attribute(policy),
  when: attribute(uploadWhen),
  unprotect: attribute(boolean),
  fallback_keys: entry(fallbackKeys),
};

const cache: Shape<Cache> = mapped(record(cacheMembers), (read) => ({
  key: read.key ?? defaultKey,
  paths: read.paths ?? [],
  untracked: read.untracked ?? false,
  policy: read.policy ?? 'pull-push',
  when: read.when ?? 'on_success',
  unprotect: read.unprotect ?? false,
  fallback_keys: read.fallback_keys ?? [],
}));

export const caches: Shape<readonly Cache[]> = (value, at) => {
  const items = isList(value) ? value : [value];
  if (items.length > maximumCaches) return at.fault(`no more than ${maximumCaches} caches can be created`);
  return items.flatMap((item) => cache(item, at) ?? []);
};
