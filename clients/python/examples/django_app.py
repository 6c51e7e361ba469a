"""Counts the questions of an assistant in Django: ``gunicorn django_app:wsgi``, or ``uvicorn django_app:asgi``."""

import json
import os

from django.conf import settings
from django.core.asgi import get_asgi_application
from django.core.wsgi import get_wsgi_application
from django.http import HttpRequest, HttpResponse
from django.urls import path
from django.views.decorators.csrf import csrf_exempt

from caller_stats import AsgiQuestions, Recorder, WsgiQuestions

settings.configure(ROOT_URLCONF=__name__, SECRET_KEY="of the example", ALLOWED_HOSTS=["*"])


@csrf_exempt
def ask(request: HttpRequest) -> HttpResponse:
    return HttpResponse(f"Answer to {json.loads(request.body)['id']}")


urlpatterns = [path("ask", ask)]
recorder = Recorder(
    os.environ.get("CALLER_STATS_URL"),
    os.environ.get("CALLER_STATS_PROJECT"),
    os.environ.get("CALLER_STATS_RECORDING_KEY"),
)
rules = {"site_origins": ["https://docs.example.com"], "caller_header": "x-caller"}
wsgi = WsgiQuestions(get_wsgi_application(), recorder, **rules)
asgi = AsgiQuestions(get_asgi_application(), recorder, **rules)
