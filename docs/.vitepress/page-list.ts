/** The pages of the site in the order of the sidebar, with what the sidebar, the search and other sites show of them. */

export interface Page {
  /** In the sidebar. */
  readonly title: string;
  /** One sentence, for search engines, previews of links and `llms.txt`. */
  readonly description: string;
  /** Words that readers search for, besides those on the page. */
  readonly keywords?: string;
}

interface Group {
  readonly text: string;
  /** By the name of the page in the site. */
  readonly pages: Readonly<Record<string, Page>>;
}

/** A page whose file does not exist is left out. */
export const GROUPS: readonly Group[] = [
  {
    text: 'Start',
    pages: {
      index: {
        title: 'Quick start',
        description: 'Start caller-stats with sample data, read the first counts and record a question.',
        keywords: 'quick start getting started first steps overview demo sample try trial playground',
      },
      tutorial: {
        title: 'Tutorial',
        description: 'Connect your own assistant and see its first question in a chart, in ten minutes.',
        keywords: 'tutorial example first chart walkthrough guide hello world connect question',
      },
      dashboard: {
        title: 'The dashboard',
        description: 'Set up the dashboard, invite others, and read counts, keys and sources in it.',
        keywords:
          'dashboard web ui set-up link owner invite invitation email add member user forgot forgotten lost password reset chart colleague teammate team users filter date range setup set up first admin account registration register expired renew keyboard shortcuts overview screenshot download permalink',
      },
    },
  },
  {
    text: 'How to record',
    pages: {
      record: {
        title: 'Record over HTTP',
        description: 'Record questions with one HTTP request: fields, formats and answers.',
        keywords:
          'record send post query ndjson json array batch many several queries one request endpoint track event rest http api curl gzip compress compression headers content-type body payload',
      },
      client: {
        title: 'Clients',
        description:
          'Record and read from JavaScript, TypeScript, Python and Go, with middleware for web frameworks.',
        keywords:
          'javascript typescript python go golang client npm pypi pip install sdk middleware flask django fastapi asgi wsgi gunicorn uvicorn celery fork example express fastify hono next nextjs bun deno workers detect spool user-agent graceful shutdown exit streaming stream disconnect abort offline queue buffer batch flush async asyncio thread agent rules headers origin referer types sigterm kill crash lose reader nodejs browser',
      },
      'not-arriving': {
        title: 'My queries do not arrive',
        description: 'Find out why queries do not arrive: what each sender sees, and each reason.',
        keywords:
          'troubleshooting do not arrive arriving missing recorded refused rejected 401 403 404 revoked wrong no data empty zero pending debug does nothing troubleshoot found proxy redirect firewall clock skew future',
      },
      recipes: {
        title: 'Ruby, PHP',
        description: 'Programs in Ruby and PHP that record a question and repeat after errors.',
        keywords:
          'ruby php example script rails laravel symfony sinatra wordpress library language dotnet rust',
      },
      'recipes-serverless': {
        title: 'Lambda, Vercel, Cloudflare',
        description: 'Whole programs for AWS Lambda, Vercel and Cloudflare Workers that lose no question.',
        keywords:
          'aws lambda vercel cloudflare workers serverless edge waituntil freeze function netlify azure functions pages cold start',
      },
      'recipes-logs': {
        title: 'Fluent Bit and Vector',
        description: 'Send a line for each question with a log shipper.',
        keywords: 'fluent bit fluentbit vector log shipper file tail ndjson agent logstash filebeat promtail',
      },
      opentelemetry: {
        title: 'OpenTelemetry',
        description: 'Count the questions of an assistant that sends OpenTelemetry, without code.',
        keywords:
          'opentelemetry otel otlp traces spans collector genai sampling nothing counts counted missing zero exporter grpc span instrumentation litellm langfuse llm observability duplicate parent agents tools streaming interrupted retries queue temporal workflow ignore evaluation gateway jaeger datadog instrument auto trace',
      },
      'recipes-sdks': {
        title: 'AI SDKs and agents',
        description:
          'Whole programs for the AI SDK, LangChain and OpenAI Agents that are counted by OpenTelemetry.',
        keywords: 'ai sdk vercel usechat langchain openai agents openinference',
      },
      'recipes-python': {
        title: 'FastAPI, Flask, Django',
        description:
          'Whole programs for FastAPI, Flask, Django and Celery that are counted by OpenTelemetry.',
        keywords: 'fastapi flask django celery uvicorn gunicorn pydantic traces ai',
      },
      'recipes-java': {
        title: 'Java assistants',
        description: 'A whole program with Spring Boot and Spring AI that is counted by OpenTelemetry.',
        keywords: 'java spring boot spring ai micrometer',
      },
      'recipes-go': {
        title: 'net/http and gin',
        description: 'Whole programs for net/http and gin that are counted by OpenTelemetry.',
        keywords: 'net http gin otelhttp genkit',
      },
      import: {
        title: 'Import queries',
        description: 'Import past questions from files, exports of other systems and access logs.',
        keywords:
          'import history past export exports csv ndjson json umami posthog goatcounter plausible access log nginx caddy dry run wrong file undo google analytics matomo logfile files bulk load apache backfill old traefik columns column map mapping timestamp bad lines strict gzip zstd jsonl',
      },
      corrections: {
        title: 'I recorded something wrong',
        description: 'Withdraw or rename queries that were recorded by mistake, and take that back.',
        keywords:
          'correct corrections withdraw delete remove query queries rename caller undo wrong mistake spam typo clean up fix duplicate questions numbers change changed why bot bots robots crawler traffic filter exclude internal test data edit reset merge join own visits revert',
      },
      'import-counts': {
        title: 'Import counts',
        description: 'Import history that exists only as counts, from a file or from another server.',
        keywords: 'counts spreadsheet daily monthly totals history backfill',
      },
    },
  },
  {
    text: 'How to read',
    pages: {
      changes: {
        title: 'Why did my number change',
        description: 'What has changed a count since an earlier report, by cause, sender and caller.',
        keywords:
          'why did my number numbers different differs higher lower report late recorded explain as of asof history difference snapshot reproducible yesterday',
      },
      reading: {
        title: 'Read the counts',
        description: 'Read the counts in the terminal, spreadsheets, Grafana, programs and AI assistants.',
        keywords:
          'read report spreadsheet spreadsheets google sheets excel power bi query libreoffice calc importdata grafana pandas polars r jupyter duckdb mcp claude cursor curl dashboard looker metabase tableau notebook dataframe ide vscode chatgpt connector oauth terminal table',
      },
      export: {
        title: 'Export the rows',
        description: 'Take every recorded query away, as NDJSON or CSV, for a warehouse or another project.',
        keywords:
          'export the rows download raw data queries ndjson warehouse bigquery snowflake duckdb pandas psql copy dump json parquet incremental sql',
      },
      sharing: {
        title: 'Share the counts',
        description:
          'Public, read-only links of a project: with a password, an expiry, or embedded in a page.',
        keywords:
          'share public dashboard link embed iframe chart password revoke read-only visitors website widget badge embedded customer customers client stakeholder url anonymous guest expired renew blocked refused frame',
      },
      alerts: {
        title: 'Digest and alerts',
        description:
          'A weekly or monthly digest and alerts by webhook, Slack or e-mail: what is sent, and when.',
        keywords:
          'digest alert alerts notification notify webhook signature slack email e-mail smtp weekly monthly silence no traffic stopped spike usual teams discord pagerduty opsgenie mattermost message mail notifications drop missing anomaly detection sudden increase decrease dropped threshold new integration appears outage schedule recipients unsubscribe test setup server',
      },
    },
  },
  {
    text: 'How to run',
    pages: {
      install: {
        title: 'Install the server',
        description: 'Download, verify, install and update caller-stats: package, image and services.',
        keywords:
          'install installation download npm npx image signature checksum sha256 cosign attestation systemd launchd windows service update upgrade uninstall remove memory ram requirements node version nodejs raspberry vps unit daemon autostart boot start arm binary homebrew restart failure crash winsw root non-root user',
      },
      run: {
        title: 'Run',
        description: 'Run caller-stats in production: first keys, checks, containers, and a proxy with TLS.',
        keywords:
          'deploy docker container compose kubernetes doctor nginx caddy proxy x-forwarded-for tls https base path subpath prefix first admin key port already in use command settings env file podman behind reverse load balancer cloudflare traefik haproxy apache domain ssl helm k8s production 404 502 gateway websocket letsencrypt certificate listen root user non-root',
      },
      keys: {
        title: 'Keys and members',
        description: 'Create, rotate and revoke API keys; organizations, members and the audit log.',
        keywords:
          'api key create rotate revoke expire expired forgot forgotten scope allowlist organization audit log read only reading permissions ip token bearer compromised renew who changed history block restrict network cidr address whitelist header authorization admin recording ci pipeline organizations two second',
      },
      'sign-in': {
        title: 'Sign-in',
        description: 'Roles, passwords, two-factor authentication, passkeys, single sign-on and sessions.',
        keywords:
          'sign in login role change password two-factor 2fa totp authenticator lost phone backup codes passkey webauthn sso oidc okta keycloak entra google session timeout lockout ldap saml azure mfa access rights viewer editor owner member members remove leave account roles reset disable passwordless fingerprint brute force locked attempts logout out',
      },
      projects: {
        title: 'Projects',
        description: 'Delete projects, set a retention, and change the settings of a project.',
        keywords:
          'project delete remove retention keep days purge old data rename settings add create new second another week start multi site sites tenant multiple several ad blocker blockers adblock adblocker blocked earliest name change vacuum compact free disk space shrink file size id slug',
      },
      backup: {
        title: 'Back up and upgrade',
        description: 'Back up and restore the database, and upgrade to a new version.',
        keywords:
          'backup restore upgrade update version downgrade migrate schema migration litestream pg_dump recover schedule cron timer nightly generations rotation another machine disaster s3 volume snapshot data folder corrupt corrupted damaged recovery rollback',
      },
      operate: {
        title: 'Monitor',
        description: 'Probes, Prometheus metrics with dashboard and alerts, logs and traces of the server.',
        keywords:
          'monitor monitoring prometheus metrics alert health check readyz livez log logs logging log rotation rotate journald journalctl logrotate format trace disk full no space left device read-only filesystem scrape scraping exporter uptime lost connection database down unhealthy latency alertmanager loki debug verbose level requests traces',
      },
      scaling: {
        title: 'Scale',
        description: 'How much one machine does, what limits first, and how to plan for more.',
        keywords:
          'scale performance capacity throughput requests per second many billion queries load sizing disk memory ram cpu hardware requirements large big slow fast size growth growing grow concurrency nodes horizontal concurrent',
      },
      moving: {
        title: 'Move to another database',
        description:
          'Copy projects, keys and queries between SQLite, PostgreSQL and Citus, and prove that nothing is missing.',
        keywords:
          'sqlite to postgres postgresql copy move another server project migrate switch new host hardware migration',
      },
      failover: {
        title: 'Standby and failover',
        description: 'Survive the loss of a PostgreSQL server with a standby.',
        keywords: 'failover standby replica replication high availability primary promote read patroni ha',
      },
      citus: {
        title: 'Citus',
        description: 'Spread projects over several PostgreSQL servers with Citus.',
        keywords: 'citus shard sharding distributed cluster worker coordinator',
      },
    },
  },
  {
    text: 'Concepts',
    pages: {
      'how-it-works': {
        title: 'How caller-stats works',
        description: 'The data flow of caller-stats on one node and on several, and all of its terms.',
        keywords:
          'concepts architecture diagram data flow overview how it works node glossary term terms definition meaning vocabulary multiple instances storage model',
      },
      queries: {
        title: 'Queries and callers',
        description: 'What a query is, what a caller is, and which of the types web, api and other it has.',
        keywords:
          'query question count questions caller type other unknown slack discord bot integration web api meaning definition counts counted conversation message follow-up separately calls kinds category',
      },
      ids: {
        title: 'Ids',
        description: 'Why a query counts once, and how to choose its id.',
        keywords:
          'id duplicate duplicates idempotent idempotency deduplicate twice double uuid length format case',
      },
      exactness: {
        title: 'Exactness',
        description: 'What you can rely on, why it works, and how to check it.',
        keywords:
          'exact accurate correct guarantee promise lost crash verify wrong count durability recount check consistent integrity counts reliable',
      },
      time: {
        title: 'Time, ranges and time zones',
        description: 'The time of a query, ranges, periods, time zones, clock changes and comparisons.',
        keywords:
          'time zone timezone utc date range daylight saving dst clock occurredAt day boundary late events delayed future period last month year quarter compare comparison previous datefrom dateto hours offset over days week today yesterday rolling wrong zones weekly',
      },
      privacy: {
        title: 'Privacy and GDPR',
        description: 'What is stored and for how long, how to delete it, and requests of data subjects.',
        keywords:
          'privacy gdpr dsgvo personal data stored storage cookies erase delete right forgotten subject request compliance ip address addresses consent ccpa anonymize pii personally account erasure what sent leaves server telemetry',
      },
      comparison: {
        title: 'Comparison and moving',
        description:
          'How caller-stats compares with the hosted original, Plausible, Umami, OpenMeter and Langfuse, and how to move.',
        keywords:
          'compare comparison alternative versus vs plausible umami goatcounter openmeter langfuse analytics hosted original platform migrate migration switch move replace matomo posthog google',
      },
      faq: {
        title: 'Questions and answers',
        description: 'Short answers to frequent questions about counting, reading and running.',
        keywords:
          'faq question answer unique users visitors delete single query licence license free price pricing cost offline air gapped internet telemetry',
      },
    },
  },
  {
    text: 'Reference',
    pages: {
      http: {
        title: 'Operations over HTTP',
        description: 'The operations of the HTTP API: ranges, series, callers, JSON and CSV.',
        keywords:
          'http api operation endpoint series csv export exports download data json interval hourly daily weekly monthly yearly breakdown top busiest per hour day group by grouping header authorization bearer chart charts',
      },
      api: {
        title: 'API',
        description: 'Every operation of the HTTP API with its parameters, bodies and answers.',
        keywords: 'openapi swagger schema',
      },
      errors: {
        title: 'Errors, retries and overload',
        description:
          'Every status and its cause, when to repeat a request, what a busy server refuses, and rate limits.',
        keywords:
          'error status timeout while recording 400 401 404 409 413 500 503 429 unauthorized cors connection reset broken pipe large body retry retries repeat retry-after backoff timeout resend overload rate limit throttling too many requests load shedding busy slow lost unavailable not found quota exceeded payload',
      },
      commands: {
        title: 'Commands',
        description: 'Every command of the program with its options.',
        keywords:
          'cli command line help flags exit code codes status shell terminal options graceful shutdown sigterm',
      },
      settings: {
        title: 'Settings',
        description: 'Every flag and environment variable, and how to connect to PostgreSQL.',
        keywords:
          'setting configuration config audit retention environment variables env flag postgresql postgres permissions privileges grant secret rotate connection string url dsn pgbouncer port ssl listen host address bind configure options setup database file path sqlite schema',
      },
      limits: {
        title: 'Limits',
        description: 'Every limit of sizes, numbers and times, with its reason.',
        keywords: 'limit maximum size max largest payload length too long',
      },
      security: {
        title: 'Security',
        description: 'What an attacker can and cannot do, and how to report a problem.',
        keywords: 'security vulnerability leaked key attacker scanner threat csp content policy cve xss',
      },
      benchmarks: {
        title: 'Benchmarks',
        description: 'How fast caller-stats is, compared with simpler programs.',
        keywords: 'benchmark fast speed performance latency',
      },
      figures: {
        title: 'All measurements',
        description: 'The ratios that the benchmarks measured, with their spreads.',
      },
      versioning: {
        title: 'Versions and compatibility',
        description: 'What stays the same between versions, how things are removed, and what is supported.',
        keywords:
          'semver semantic versioning compatibility breaking change deprecated deprecation support node postgresql stable end life eol lts supported',
      },
      versions: {
        title: 'Other versions',
        description: 'Where the docs of other versions are, and how to find out the version of a server.',
        keywords: 'older previous release documentation archive',
      },
      changelog: {
        title: 'Changes',
        description: 'What has changed in each version.',
        keywords: 'changelog release notes',
      },
    },
  },
];

/** Every page by its name. */
export const PAGES: ReadonlyMap<string, Page> = new Map(GROUPS.flatMap(({ pages }) => Object.entries(pages)));
