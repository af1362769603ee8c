/** What names and paths of groups and projects may be (groups-projects-members.md section 2). */

const pathPattern = /^[a-zA-Z0-9]+([._-][a-zA-Z0-9]+)*$/;
const pathText =
  "can only include non-accented letters, digits, '_', '-' and '.'. It must not start with '-', '_', or '.', nor end with '-', '_', '.', '.git', or '.atom'.";

/** Words that addresses below the root use. */
const reservedTopLevel = new Set(
  (
    '- .well-known 404.html 422.html 500.html 502.html 503.html abuse_reports admin api apple-touch-icon-precomposed.png apple-touch-icon.png assets ' +
    'autocomplete ci dashboard deploy.html docs explore favicon.ico files groups health_check help import invites jwt koding login notification_settings ' +
    'oauth profile projects public robots.txt s search sent_notifications sitemap sitemap.xml sitemap.xml.gz slash-command-logo.png snippets u ' +
    'unicorn_test unsubscribes uploads users v2'
  ).split(' '),
);

/** Words that addresses below a project use. */
const reservedInside = new Set(
  '- badges blame blob builds commits create create_dir edit files find_file new preview raw refs tree update wikis'.split(' '),
);

const maximumPath = 255;

/**
 * Why a path cannot be taken, empty when it can.
 * @param isTopLevel whether it stands at the root, among users and top-level groups
 */
export function pathReasons(path: string, isTopLevel: boolean): string[] {
  if (path === '') return ["can't be blank"];
  const reasons: string[] = [];
  if (!pathPattern.test(path) || /\.(git|atom)$/i.test(path)) reasons.push(pathText);
  if ((isTopLevel ? reservedTopLevel : reservedInside).has(path.toLowerCase())) reasons.push(`${path} is a reserved name`);
  if (path.length > maximumPath) reasons.push(`is too long (maximum is ${maximumPath} characters)`);
  return reasons;
}
