import java.io.BufferedReader;
import java.io.ByteArrayInputStream;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.net.HttpURLConnection;
import java.net.URI;
import java.net.URL;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;

/** Sends the requests that standard input lists with clients of Java, and prints the responses: see clients.ts. */
public class Request {
  public static void main(String[] arguments) throws Exception {
    System.setProperty("jdk.httpclient.allowRestrictedHeaders", "connection");
    BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
    for (String line = lines.readLine(); line != null; line = lines.readLine()) {
      String[] fields = line.split("\t");
      byte[] body = new byte[Integer.parseInt(fields[3])];
      Arrays.fill(body, (byte) ' ');
      String answer;
      try {
        answer = fields[0].equals("HttpClient") ? withHttpClient(fields, body) : withUrlConnection(fields, body);
      } catch (Exception error) {
        answer = "0\t" + error + " " + error.getCause();
      }
      System.out.println(answer);
    }
    System.exit(0);
  }

  static String withHttpClient(String[] fields, byte[] body) throws Exception {
    var publisher =
        fields[4].equals("length")
            ? BodyPublishers.ofByteArray(body)
            : BodyPublishers.ofInputStream(() -> new ByteArrayInputStream(body));
    var builder = HttpRequest.newBuilder(URI.create(fields[2])).method(fields[1], publisher);
    for (int at = 5; at < fields.length; at++) {
      String[] header = fields[at].split(": ", 2);
      if (header[0].equals("Expect")) builder.expectContinue(true);
      else builder.header(header[0], header[1]);
    }
    var client = HttpClient.newBuilder().version(HttpClient.Version.HTTP_1_1).build();
    var response = client.send(builder.build(), BodyHandlers.ofString());
    return response.statusCode() + "\t" + response.body();
  }

  static String withUrlConnection(String[] fields, byte[] body) throws Exception {
    var connection = (HttpURLConnection) new URL(fields[2]).openConnection();
    connection.setRequestMethod(fields[1]);
    connection.setDoOutput(true);
    if (fields[4].equals("length")) connection.setFixedLengthStreamingMode(body.length);
    else connection.setChunkedStreamingMode(65536);
    for (int at = 5; at < fields.length; at++) {
      String[] header = fields[at].split(": ", 2);
      connection.setRequestProperty(header[0], header[1]);
    }
    try (var out = connection.getOutputStream()) {
      out.write(body);
    }
    int status = connection.getResponseCode();
    InputStream in = status < 400 ? connection.getInputStream() : connection.getErrorStream();
    return status + "\t" + (in == null ? "" : new String(in.readAllBytes(), StandardCharsets.UTF_8));
  }
}
