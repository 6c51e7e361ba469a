/**
 * Tries passwords as fast as its connections get responses, each time from another address and for another person: the worst
 * possible stranger. Arguments: the server's URL, connections, seconds. Prints the number of responses of each status as JSON.
 */
import autocannon from 'autocannon';

const [url = '', connections = '', seconds = ''] = process.argv.slice(2);
let number = 0;

const { statusCodeStats = {} } = await autocannon({
  url,
  connections: Number(connections),
  duration: Number(seconds),
  timeout: 60,
  sampleInt: 100,
  requests: [
    {
      method: 'POST',
      path: '/api/sign-in',
      setupRequest: (request) => {
        number++;
        const address = `10.${(number >> 16) % 256}.${(number >> 8) % 256}.${number % 256}`;
        const headers = { 'content-type': 'application/json', origin: url, 'x-forwarded-for': address };
        const body = JSON.stringify({
          email: `nobody${number}@example.org`,
          password: `wrong guess ${number}`,
        });
        return { ...request, headers, body };
      },
    },
  ],
});
process.stdout.write(
  JSON.stringify(
    Object.fromEntries(Object.entries(statusCodeStats).map(([code, { count = 0 }]) => [code, count])),
  ),
);
