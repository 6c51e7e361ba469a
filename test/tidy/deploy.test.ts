/** The files in `deploy/` match the server's settings, paths and folders. */
import { dirname, join } from 'node:path/posix';
import { getCiphers } from 'node:tls';
import { DOMParser, onErrorStopParsing } from '@xmldom/xmldom';
import { parse as parsePlist } from 'plist';
import { describe, expect, test } from 'vitest';
import { parse, parseAllDocuments } from 'yaml';
import { FOREIGN as FOREIGN_PAGES } from '../../docs/.vitepress/pages.js';
import { SETTINGS } from '../../src/cli/settings/settings.js';
import { databaseTimeoutMs, shutdownTimeoutMs } from '../../src/domain/limits.js';
import { filesBelow, importsOf, read } from './sources.js';

const files = filesBelow('deploy', '');
const variables = new Set(Object.values(SETTINGS).map(({ environment }) => environment));
const flags = new Set(Object.values(SETTINGS).map(({ flag }) => flag));

/** Variables of the platform and of other programs. */
const FOREIGN = /^(NODE_ENV|BUILDPLATFORM|POSTGRES_\w+)$/;

test.each(files.map(({ path, text }) => [path, text] as const))(
  'every variable in %s is a setting',
  (path, text) => {
    const named = [...text.matchAll(/\b([A-Z]+(?:_[A-Z]+)+)\b(?==|:|'|\s*\n\s+value)/g)].map(
      ([, name = '']) => name,
    );
    expect(
      named.filter((name) => !variables.has(name) && !FOREIGN.test(name)),
      path,
    ).toEqual([]);
  },
);

test('the examples of proxies name existing settings', () => {
  for (const { path, text } of files.filter(({ path }) => /nginx|Caddyfile/.test(path))) {
    const named = [...text.matchAll(/--([a-z-]+) \S/g)].map(([, name = '']) => name);
    expect(named, path).toEqual(['trust-proxy', 'public-url', 'base-path']);
    for (const name of named) expect(flags).toContain(name);
  }
});

test('the nginx file passes on no header about the client that a client could set', () => {
  const { text } = read('deploy/nginx.conf');
  const locations = text.split(/^ {4}location /m).filter((one) => /^\s+\w+_pass /m.test(one));
  expect(locations).toHaveLength(2);
  for (const location of locations) {
    const set = Object.fromEntries(
      [...location.matchAll(/^\s+(?:proxy|grpc)_set_header (\S+) (.+);$/gm)].map(([, name, value]) => [
        name,
        value,
      ]),
    );
    expect(set).toMatchObject({
      'X-Forwarded-For': '$remote_addr',
      'X-Forwarded-Proto': '$scheme',
      'X-Forwarded-Host': '""',
      Forwarded: '""',
    });
  }
});

test('the nginx file has TLS 1.2 and 1.3 only, with ciphers of forward secrecy and authenticated encryption, the longest keys first', () => {
  const { text } = read('deploy/nginx.conf');
  const directive = (name: string) =>
    new RegExp(`^\\s+${name} (.+);$`, 'm').exec(text)?.[1]?.split(/[ :]/) ?? [];
  expect(directive('ssl_protocols')).toEqual(['TLSv1.2', 'TLSv1.3']);
  expect(directive('ssl_prefer_server_ciphers')).toEqual(['on']);
  const ciphers = directive('ssl_ciphers');
  const known = new Set(getCiphers().map((name) => name.toUpperCase()));
  for (const cipher of ciphers) {
    expect(known, cipher).toContain(cipher);
    expect(cipher).toMatch(/^ECDHE-(?:ECDSA|RSA)-(?:AES(?:256|128)-GCM-SHA\d+|CHACHA20-POLY1305)$/);
  }
  expect(ciphers.length).toBeGreaterThan(2);
  const bits = ciphers.map((cipher) => (cipher.includes('AES128') ? 128 : 256));
  expect(bits).toEqual(bits.toSorted((a, b) => b - a));
  expect(text.match(/\blisten .+;/g)).toEqual(['listen 443 ssl http2;']);
});

describe('the Kubernetes file', () => {
  const [deployment, service, budget, network] = parseAllDocuments(
    read('deploy/kubernetes/caller-stats.yaml').text,
  ).map((document) => document.toJS());
  const pod = deployment.spec.template.spec;
  const [container] = pod.containers;

  test('selects the same pods everywhere', () => {
    const { labels } = deployment.spec.template.metadata;
    const chosen = [
      deployment.spec.selector.matchLabels,
      service.spec.selector,
      budget.spec.selector.matchLabels,
    ];
    for (const selector of chosen) expect(selector).toEqual(labels);
    expect(service.spec.ports[0].targetPort).toBe(container.ports[0].name);
  });

  test('lets only the ingress connect, and trusts no whole private network', () => {
    const { labels } = deployment.spec.template.metadata;
    expect(network).toMatchObject({ kind: 'NetworkPolicy', spec: { podSelector: { matchLabels: labels } } });
    const [{ from, ports }, ...more] = network.spec.ingress;
    expect([from.length, more, ports]).toEqual([1, [], [{ port: container.ports[0].name }]]);
    expect(Object.keys(from[0]).toSorted()).toEqual(['namespaceSelector', 'podSelector']);
    const trusted = container.env.find(({ name }: { name: string }) => name === 'CALLER_STATS_TRUST_PROXY');
    expect(Number(trusted.value.split('/')[1])).toBeGreaterThanOrEqual(16);
  });

  test('has probes of existing paths with sufficient timeouts', () => {
    expect(container.startupProbe.httpGet.path).toBe('/livez');
    expect(container.livenessProbe.httpGet.path).toBe('/livez');
    expect(container.readinessProbe.httpGet.path).toBe('/readyz');
    expect(container.readinessProbe.timeoutSeconds * 1000).toBeGreaterThan(databaseTimeoutMs);
    expect(pod.terminationGracePeriodSeconds * 1000).toBeGreaterThan(shutdownTimeoutMs + 5000);
  });

  test('runs the server unprivileged and read-only', () => {
    expect(pod.securityContext).toMatchObject({ runAsNonRoot: true, runAsUser: 1000 });
    expect(container.securityContext).toEqual({
      allowPrivilegeEscalation: false,
      readOnlyRootFilesystem: true,
      capabilities: { drop: ['ALL'] },
    });
    for (const { name } of container.env) expect(variables).toContain(name);
  });
});

test('compose.yaml builds the Dockerfile, waits for the server to stop, and listens locally only', () => {
  const { server, postgres } = parse(read('deploy/compose.yaml').text).services;
  expect(read(server.build.dockerfile).text).toContain('USER 1000:1000');
  for (const port of server.ports) expect(port).toMatch(/^127\.0\.0\.1:/);
  expect(server).toMatchObject({ read_only: true, cap_drop: ['ALL'] });
  expect(Number.parseInt(server.stop_grace_period, 10) * 1000).toBeGreaterThan(shutdownTimeoutMs);
  expect(postgres.volumes).toContain('./postgres-user.sql:/docker-entrypoint-initdb.d/postgres-user.sql:ro');
});

test('compose.yaml has no password and no secret: whoever starts it must set them', () => {
  const { services } = parse(read('deploy/compose.yaml').text);
  const set = Object.values<{ environment: Record<string, string> }>(services).flatMap(({ environment }) =>
    Object.entries(environment).filter(([name]) => /PASSWORD|SECRET/.test(name)),
  );
  expect(set.map(([name]) => name)).toEqual(['CALLER_STATS_SECRET', 'POSTGRES_PASSWORD']);
  for (const [name, value] of set) expect(value).toMatch(new RegExp(`^\\$\\{${name}:\\?[^}]+\\}$`));
  expect(services.server.environment.DATABASE_URL).toMatch(/^postgres:\/\/\w+:\$\{POSTGRES_PASSWORD:\?/);
});

test('images have an exact version and a digest, and packages are those of the lock file', () => {
  const { text } = read('deploy/Dockerfile');
  const { postgres } = parse(read('deploy/compose.yaml').text).services;
  const bases = [...text.matchAll(/^FROM (?:--\S+ )?(\S+)/gm)].map(([, base = '']) => base);
  expect(new Set(bases).size, 'all stages have the same base').toBe(1);
  for (const image of [...bases, postgres.image])
    expect(image).toMatch(/^[a-z]+:\d+\.\d+[\w.-]*@sha256:[0-9a-f]{64}$/);
  const commands = text.replaceAll(/\s*\\\n\s*/g, ' ').matchAll(/npm (?:install|ci)[^&\n]*/g);
  for (const [command] of commands) expect(command).toMatch(/^npm (ci|install --package-lock-only) /);
});

test('the image includes its sources and does not run as root', () => {
  const { text } = read('deploy/Dockerfile');
  const letIn = read('deploy/Dockerfile.dockerignore').lines.filter((line) => line.startsWith('!'));
  for (const [, path = ''] of text.matchAll(/^COPY ((?!--|\.).+?) \S+$/gm)) {
    for (const source of path.split(' '))
      expect(
        letIn.some((one) => `!${source}/`.startsWith(`${one}/`)),
        source,
      ).toBe(true);
  }
  expect(text.lastIndexOf('\nUSER 1000:1000\n')).toBeGreaterThan(text.lastIndexOf('\nRUN '));
});

test('the image contains the program and its sample, and no history, tests or scripts', () => {
  const [, last = ''] = read('deploy/Dockerfile').text.split(/\nFROM (?!.* AS )/);
  const copied = [...last.matchAll(/^(?:COPY|ADD) ((?:--\S+ )*)(.+) \S+$/gm)].map(([, , from]) => from);
  expect(copied).toEqual([
    '/build/node_modules',
    '/build/dist',
    'demo',
    'package.json LICENSE',
    '/build/bin',
    '/build/empty',
  ]);
  const { lines } = read('deploy/Dockerfile.dockerignore');
  expect(lines).toContain('*');
  expect(lines.filter((line) => /^!(\.|test\b)/.test(line))).toEqual([]);
});

test('the image includes the sources of the dashboard and the docs', () => {
  const letIn = read('deploy/Dockerfile.dockerignore').lines.flatMap(
    (line) => /^!(.+)/.exec(line)?.[1] ?? [],
  );
  const configs = ['dashboard/vite.config.ts', 'docs/.vitepress/config.ts'];
  const imported = configs
    .flatMap((config) => importsOf(read(config)))
    .filter((path) => path.endsWith('.ts'));
  const linked = filesBelow('docs', '.md').flatMap(({ path, text }) =>
    [...text.matchAll(/\]\((\.\.\/[^)#]+)/g)].map(([, link = '']) => join(dirname(path), link)),
  );
  const sources = [...configs, ...imported, ...linked, ...Object.keys(FOREIGN_PAGES)];
  expect(linked).toContain('deploy/Caddyfile');
  expect(
    sources.filter((source) => !letIn.some((one) => source === one || source.startsWith(`${one}/`))),
  ).toEqual([]);
});

describe('every service waits until the server has stopped, restarts it after a failure, and does not run as root:', () => {
  const isLongEnough = (seconds: unknown) =>
    expect(Number(seconds) * 1000).toBeGreaterThan(shutdownTimeoutMs);

  test('systemd', () => {
    const { text } = read('deploy/caller-stats.service');
    isLongEnough(/^TimeoutStopSec=(\d+)$/m.exec(text)?.[1]);
    for (const line of [
      'DynamicUser=yes',
      'Restart=on-failure',
      // See test/program/run/ready.test.ts. A large database may take long to be upgraded.
      'Type=notify',
      'NotifyAccess=all',
      'TimeoutStartSec=infinity',
      'ExecStart=/usr/local/bin/caller-stats serve',
      'EnvironmentFile=/etc/caller-stats.env',
    ])
      expect(text).toContain(`\n${line}\n`);
  });

  test('systemd, of which the page removes everything that was made', () => {
    const page = read('docs/guides/run/install.md').text;
    const backup = read('docs/guides/run/backup.md').text;
    const [, install = ''] = /### systemd\n[\s\S]*?```sh\n([\s\S]*?)```/.exec(page) ?? [];
    const [, uninstall = ''] = /## Uninstall\n([\s\S]*)$/.exec(page) ?? [];
    const removed = [...uninstall.matchAll(/\bsudo rm -rf? ([^`\n]+)/g)].flatMap(([, paths = '']) =>
      paths.split(' '),
    );
    const isRemoved = (made: string) =>
      removed.some((path) => (path.endsWith('*') ? made.startsWith(path.slice(0, -1)) : made === path));
    const units = [...backup.matchAll(/^`(caller-stats-\w+\.(?:service|timer))`:$/gm)].map(
      ([, unit = '']) => unit,
    );
    const [, folder = ''] = /^StateDirectory=(\S+)$/m.exec(read('deploy/caller-stats.service').text) ?? [];
    const made = [
      ...[...install.matchAll(/(?<= |>)\/etc\/[\w./-]*\w/g)].map(([path]) => path),
      ...['caller-stats.service', ...units].map((unit) => `/etc/systemd/system/${unit}`),
      ...units
        .filter((unit) => unit.endsWith('.timer'))
        .map((unit) => `/var/lib/systemd/timers/stamp-${unit}`),
      ...['/var/lib', '/var/lib/private'].map((parent) => `${parent}/${folder}`),
    ];
    expect(units).toHaveLength(2);
    expect(made).toContain('/etc/caller-stats.env');
    expect(made.filter((path) => path !== '/etc/systemd/system' && !isRemoved(path))).toEqual([]);
    const enabled = [...`${install}${backup}`.matchAll(/systemctl enable --now ([\w.-]*\w)/g)].map(
      ([, unit]) => unit,
    );
    const disabled = [...uninstall.matchAll(/systemctl disable --now ([\w.-]*\w)/g)].map(([, unit]) => unit);
    expect(disabled.toSorted()).toEqual(enabled.toSorted());
    const prefix = /npm install (--global --prefix \S+) /.exec(install)?.[1];
    expect(uninstall).toContain(`npm uninstall ${prefix} caller-stats\n`);
  });

  test('cron, which searches no folder of the installation', () => {
    expect(read('docs/guides/run/backup.md').text).toContain(
      '`0 3 * * * PATH=/usr/local/bin:$PATH caller-stats ',
    );
  });

  test('launchd', () => {
    const service = parsePlist(read('deploy/caller-stats.plist').text) as Record<string, unknown>;
    isLongEnough(service['ExitTimeOut']);
    const folder = service['WorkingDirectory'];
    expect(service).toMatchObject({
      Label: 'caller-stats',
      ProgramArguments: [
        '/usr/local/bin/caller-stats',
        '--settings',
        '/usr/local/etc/caller-stats.env',
        'serve',
      ],
      UserName: 'caller-stats',
      KeepAlive: { SuccessfulExit: false },
      Umask: 0o077,
    });
    const { PATH = '', ...settings } = service['EnvironmentVariables'] as Readonly<Record<string, string>>;
    // The folders of Node from its own installer and from Homebrew, which launchd does not search.
    expect(PATH.split(':')).toEqual(
      expect.arrayContaining(['/usr/local/bin', '/opt/homebrew/bin', '/usr/bin']),
    );
    expect(settings).toEqual({ NODE_ENV: 'production' });
    expect(read('docs/guides/run/install.md').text).toContain(
      `DATABASE_URL=sqlite:${folder}/caller-stats.db`,
    );
  });

  test('Windows', () => {
    const { text } = read('deploy/caller-stats-service.xml');
    const parser = new DOMParser({ onError: onErrorStopParsing });
    expect(() => parser.parseFromString('<service><id></service>', 'text/xml')).toThrow('tag mismatch');
    const service = parser.parseFromString(text, 'text/xml').documentElement;
    const element = (name: string) => service?.getElementsByTagName(name).item(0);
    isLongEnough(/^(\d+) sec$/.exec(element('stoptimeout')?.textContent ?? '')?.[1]);
    expect(element('arguments')?.textContent).toMatch(
      /dist\\main\.js" --settings "%BASE%\\caller-stats.env" serve$/,
    );
    expect(element('user')?.textContent).toBe('LocalService');
    expect(element('onfailure')?.getAttribute('action')).toBe('restart');
    expect([...variables, 'NODE_ENV']).toContain(element('env')?.getAttribute('name'));
  });
});

// COPY follows a link that is its source. The link leads to a file of another stage, so that no builder would find it.
test('the link to the program is copied with its folder', () => {
  const { text } = read('deploy/Dockerfile');
  const links = [...text.matchAll(/ln -s \S+ (\S+)/g)].map(([, link = '']) => link);
  expect(links).toEqual(['bin/caller-stats']);
  expect(text).toContain('\nCOPY --from=build /build/bin /usr/local/bin\n');
});
