/** The packages that a report of a scanner of dependencies lists, as bills of materials, which are read like all others. */
import { memberOf, textIn } from './members.ts';

/** Types of package URLs by package managers. */
const types = new Map<string, string>([
  ...(['apk', 'cargo', 'composer', 'conan', 'conda', 'nuget', 'pub'] as const).map((each): [string, string] => [
    each,
    each,
  ]),
  ...(['npm', 'yarn', 'pnpm'] as const).map((each): [string, string] => [each, 'npm']),
  ...(['pip', 'pipenv', 'poetry', 'setuptools', 'uv'] as const).map((each): [string, string] => [each, 'pypi']),
  ...(['maven', 'gradle', 'sbt'] as const).map((each): [string, string] => [each, 'maven']),
  ['bundler', 'gem'],
  ['go', 'golang'],
]);

const longest = 2_000;

function componentIn(dependency: unknown, type: string) {
  const name = textIn(memberOf(memberOf(dependency, 'package'), 'name'), longest);
  const version = textIn(memberOf(dependency, 'version'), longest);
  if (name === null || version === null) return [];
  const spelled = name.split('/').map(encodeURIComponent).join('/');
  return [{ type: 'library', name, version, purl: `pkg:${type}/${spelled}@${encodeURIComponent(version)}` }];
}

/** The bills of a report, one for each file that it names. */
export function billsOf(report: unknown): string[] {
  const files = memberOf(report, 'dependency_files');
  return (Array.isArray(files) ? files : []).flatMap((file: unknown) => {
    const [path, manager] = (['path', 'package_manager'] as const).map((name) => textIn(memberOf(file, name), longest));
    const [type, dependencies] = [types.get(manager ?? ''), memberOf(file, 'dependencies')];
    if (!path || type === undefined || !Array.isArray(dependencies)) return [];
    return JSON.stringify({
      ...{ bomFormat: 'CycloneDX', specVersion: '1.5', version: 1 },
      metadata: { properties: [{ name: 'gitlab:dependency_scanning:input_file:path', value: path }] },
      components: dependencies.flatMap((each: unknown) => componentIn(each, type)),
    });
  });
}
